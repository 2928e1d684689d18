import shared from "../../vitest.shared.js"

// Peers of other authors: the official SDKs and servers, and a real authorization server. `npm run test:interop` runs them.
export default {
  ...shared,
  test: { ...shared.test, name: "interop", include: ["test/interop/**/*.test.ts", "test/oauth/**/*.test.ts"] }
}
