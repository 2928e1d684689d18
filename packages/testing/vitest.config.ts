import { mergeConfig } from "vitest/config"
import shared from "../../vitest.shared.js"

// The first tests of a file compile the official schemas, which takes its time on a machine that is busy with others.
export default mergeConfig(shared, { test: { name: "testing", testTimeout: 30_000 } })
