// A place has one live analysis: the second call gets the job that waits already.
import { JobsApi } from '#src/jobs-api'
import { openClient } from './client.ts'

const millrace = openClient()
const jobs = new JobsApi(millrace)

const place = { 'lipas-id': 12_345 }
const first = await jobs.enqueueJob('analysis', place, { createdBy: 'ann' })
const second = await jobs.enqueueJob('analysis', place, { createdBy: 'ben' })
console.log(`the first is ${first.status}, the second ${second.status}`)
console.log(first.id === second.id ? 'both are one job' : 'they are two jobs')

// A key of the caller's own replaces that of the contract.
const third = await jobs.enqueueJob('analysis', place, { dedupKey: 'analysis-12345-night' })
console.log(`under another key it is ${third.status}`)

await millrace.close()
