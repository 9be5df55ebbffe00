// pg-boss with its groups, in the situations of the suite fairness: one process per measurement, the figures on stdout.
// A group is bounded to half of the slots, in the database, so that the bound holds across processes as ours does. With no
// bound it has no fairness; with a smaller one more slots stand idle when only the large group has work.
import { setTimeout as sleep } from 'node:timers/promises'
import { PgBoss } from 'pg-boss'

const [databaseUrl, order] = process.argv.slice(2)
const { slots, handlerMs, backlog, smallGroups, jobsEach, ms } = JSON.parse(order)

const QUEUE = 'bench-groups'
const WARM_JOBS = 200
const BATCH = 5_000
const boss = new PgBoss({ connectionString: databaseUrl, useListenNotify: true })
boss.on('error', (error) => console.error(error))
await boss.start()
await boss.createQueue(QUEUE, { notify: true })

const insert = async (group, count) => {
  for (let done = 0; done < count; done += BATCH) {
    const jobs = Array.from({ length: Math.min(BATCH, count - done) }, () => ({
      data: { group },
      group: { id: group },
    }))
    await boss.insert(QUEUE, jobs)
  }
}

const asked = new Map()
const waits = []
const runs = []
let warmed = 0
let onWarm = () => {}
let onAll = () => {}
const warm = new Promise((resolve) => {
  onWarm = resolve
})
const all = new Promise((resolve) => {
  onAll = resolve
})

async function handle({ data: { group } }) {
  const run = { startedMs: performance.now(), endedMs: Number.POSITIVE_INFINITY }
  runs.push(run)
  if (group.startsWith('warm') && ++warmed === WARM_JOBS) onWarm()
  const since = asked.get(group)
  if (since !== undefined && waits.push(run.startedMs - since) === smallGroups * jobsEach) onAll()
  await sleep(handlerMs)
  run.endedMs = performance.now()
}

// As many groups as fill the slots.
for (let i = 0; i < 4; i++) await insert(`warm ${i}`, WARM_JOBS / 4)
if (backlog > 0) await insert('large', backlog)
await boss.getDb().executeSql('vacuum analyze')
await boss.getDb().executeSql('checkpoint')
const work = {
  // Two workers that take batches: twenty with one job each settle for their polling interval when a group is full.
  localConcurrency: 2,
  batchSize: slots / 2,
  groupConcurrency: slots / 2,
  burstWhenBatchFull: true,
  pollingIntervalSeconds: 0.5,
  notifyPollingIntervalSeconds: 0.5,
}
await boss.work(QUEUE, work, (jobs) => Promise.all(jobs.map(handle)))
await warm
// Only the large one has work now.
const fromMs = performance.now()
if (backlog > 0) await sleep(ms)
const toMs = performance.now()
const arrivals = Array.from({ length: smallGroups }, (_, i) => {
  asked.set(`small ${i}`, performance.now())
  return insert(`small ${i}`, jobsEach)
})
await Promise.all([...arrivals, all])

waits.sort((a, b) => a - b)
const busyMs = runs.reduce(
  (sum, { startedMs, endedMs }) => sum + Math.max(0, Math.min(endedMs, toMs) - Math.max(startedMs, fromMs)),
  0,
)
console.log(
  JSON.stringify({
    wait: waits[Math.ceil(waits.length * 0.95) - 1],
    idle: backlog > 0 ? 1 - busyMs / (slots * (toMs - fromMs)) : 0,
  }),
)
process.exit()
