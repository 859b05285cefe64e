# core/registry
