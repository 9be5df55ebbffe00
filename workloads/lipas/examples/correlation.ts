// Jobs that belong together share a correlation id, by which they are found again. `node` runs this on a migrated database.
import { JobsApi } from '#src/jobs-api'
import { openClient } from './client.ts'

const millrace = openClient()
const jobs = new JobsApi(millrace)

const { correlationId } = await jobs.createJobChain([
  { type: 'email', payload: { to: 'user@example.com', subject: 'We are computing your place' } },
  { type: 'analysis', payload: { 'lipas-id': 123 } },
])
const trace = await jobs.getCorrelationTrace(correlationId)
for (const { type, status } of trace.jobs) console.log(`${type} is ${status}`)

await millrace.close()
