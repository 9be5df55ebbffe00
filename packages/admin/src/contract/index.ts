// The contract of the admin API. Safe for browsers: it imports zod and nothing else.
export { type AdminClient, AdminError, type ClientOptions, call, createAdminClient } from './client.ts'
export { CSV_ROWS, csvColumns, csvLine, csvRow } from './csv.ts'
export { withDates } from './dates.ts'
export {
  type AnswerOf,
  type Endpoint,
  endpoint,
  type InputOf,
  type Method,
  parametersOf,
  type Role,
} from './endpoint.ts'
export { type Contract, contract, operations } from './operations.ts'
export { streamEvent, topicNames } from './stream.ts'
