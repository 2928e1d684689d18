import shared from "../../vitest.shared.js"

// A client of the official SDK. `npm run test:interop` runs it.
export default {
  ...shared,
  test: {
    ...shared.test,
    name: "interop-workflow",
    globalSetup: "../sql/test/install.ts",
    include: ["test/interop/**/*.test.ts"]
  }
}
