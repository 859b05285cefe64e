# plugins/fake
