# core/manager
