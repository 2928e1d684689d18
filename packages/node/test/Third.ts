/**
 * The part of a large matrix that a run of the tests takes: a third, chosen by the commit, so that three commits in a row cover the
 * matrix. `npm run test:long` takes the whole.
 */
const third = process.env.EFFECT_MCP_TEST_LONG === undefined ? Number(process.env.EFFECT_MCP_TEST_THIRD) : undefined

/** Whether a run takes the row at this place. The places of a matrix with several columns are sums of theirs. */
export const isTaken = (place: number): boolean => third === undefined || place % 3 === third
