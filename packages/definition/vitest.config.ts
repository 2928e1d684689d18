import { mergeConfig } from "vitest/config"
import shared from "../../vitest.shared.js"

// Property tests run thousands of cases: the limit must hold on a loaded machine.
export default mergeConfig(shared, { test: { name: "definition", testTimeout: 60_000 } })
