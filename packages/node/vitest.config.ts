import { mergeConfig } from "vitest/config"
import shared from "../../vitest.shared.js"

// These tests start processes, which takes its time on a machine that is busy with others.
export default mergeConfig(shared, { test: { name: "node", testTimeout: 30_000, hookTimeout: 30_000 } })
