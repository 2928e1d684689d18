import { contract } from "./contract.js"
import { all } from "./Pairs.js"

for (const pair of all) contract(pair)
