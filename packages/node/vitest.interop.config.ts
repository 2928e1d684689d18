import shared from "../../vitest.shared.js"

// Peers of other authors: the official SDKs and servers, and a real authorization server. `npm run test:interop` runs them. A peer may
// fail to start on a busy machine, so a test may run twice.
export default {
  ...shared,
  test: { ...shared.test, name: "interop", retry: 1, include: ["test/interop/**/*.test.ts", "test/oauth/**/*.test.ts"] }
}
