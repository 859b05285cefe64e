# What berth-conform says of the backend; its status is the test's (77: nothing can be run here).
exec "$BERTH_CONFORM" ${CONFORM_FLAGS:-} --report conform.md "$BACKEND"
