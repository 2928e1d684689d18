/** placeholder */
import type { Circumstances, Result } from "./Report.js"
export interface Run extends Circumstances { readonly results: ReadonlyArray<Result> }
export const pageOf = (runs: ReadonlyArray<Run>): string => `${runs.length}`
