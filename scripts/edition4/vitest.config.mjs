// How the tests of the edition run: its sources, as the tests of this edition do, and a reporter that writes what edition4.mjs reads.
const conditions = ["@effect-mcp/source", "node", "import", "module", "default"]

export default {
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: conditions } },
  test: {
    include: ["packages/core/test/{kit,jsonrpc,protocol,definition,client,server}/**/*.test.ts"],
    // Some of these tests fail now and then where the machine has other work.
    exclude: ["packages/core/test/client/TasksClient*.test.ts"],
    setupFiles: ["./vitest.setup.mjs"],
    reporters: ["./reporter.mjs"],
    fakeTimers: { toFake: [] },
    pool: "forks",
    maxWorkers: 2,
    isolate: false,
    testTimeout: 30_000,
    hookTimeout: 20_000,
    teardownTimeout: 10_000
  }
}
