# sdk/include
