import { mergeConfig } from "vitest/config"
import shared from "../../vitest.shared.js"

// Property tests need more than the default of 5 seconds on a busy machine.
export default mergeConfig(shared, { test: { name: "jsonrpc", testTimeout: 30_000 } })
