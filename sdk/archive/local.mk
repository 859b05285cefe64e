# sdk/archive
