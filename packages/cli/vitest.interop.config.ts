import shared from "../../vitest.shared.js"

// Servers of other authors. `npm run test:interop` runs them; a server may fail to start on a busy machine.
export default {
  ...shared,
  test: {
    ...shared.test,
    name: "interop-cli",
    retry: 1,
    globalSetup: "./test/bundle.ts",
    include: ["test/interop/**/*.test.ts"]
  }
}
