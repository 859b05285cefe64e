# conformance/plain
