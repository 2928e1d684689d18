/**
 * The part of a large matrix that `npm test` takes: every third row, always the same ones, so that a run that failed can be repeated.
 * `npm run test:long` takes the whole.
 */
const isLong = process.env.EFFECT_MCP_TEST_LONG !== undefined

/** Whether a run takes the row at this place. The places of a matrix with several columns are sums of theirs. */
export const isTaken = (place: number): boolean => isLong || place % 3 === 0
