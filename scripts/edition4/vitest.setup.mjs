// Properties get the same values in each run, so that a second one finds the same failure.
import * as FastCheck from "fast-check"

FastCheck.configureGlobal({ seed: 20260728 })
