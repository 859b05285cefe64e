# core/state
