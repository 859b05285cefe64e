# plugins/ns
