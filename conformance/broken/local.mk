# conformance/broken
