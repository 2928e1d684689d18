// Tests that keep the event loop from turning, for `watchdog.test.mjs`.
export default {
  test: { include: ["spins.mjs", "imports.mjs"], setupFiles: "../../vitest.setup.ts" }
}
