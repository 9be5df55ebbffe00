// A worker that is killed while it takes a screenshot: its browser goes with it, and the job runs again.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { endWorker } from 'millrace'
import { expect, test } from 'vitest'
import { treeOf } from '#src/sites/process-tree'
import { Program } from '../../../../packages/cli/test/support/program.ts'
import { eventually } from '../../../../packages/engine/test/support/setup.ts'
import { captureSetup } from '../support/captures.ts'
import { startFeedServer } from '../support/feed-server.ts'

const MODULE = fileURLToPath(new URL('../../dist/src/index.js', import.meta.url))

test('no Chromium is left two seconds after its worker was killed, and the job runs again', {
  timeout: 60_000,
}, async () => {
  await using server = await startFeedServer()
  await using t = await captureSetup({ allow: [server.address], env: { VILLAGECOMPUTE_JOBS_MAX_ATTEMPTS: '3' } })
  const asked = new Promise<void>((resolve) => server.set('/page', () => resolve()))
  const job = await t.begin(server.url('/page'))
  const env = {
    DATABASE_URL: t.url,
    VILLAGECOMPUTE_EGRESS_ALLOW: server.address,
    SLACK_OPS_WEBHOOK: 'https://slack.example/',
    PAGERDUTY_INTEGRATION_KEY: 'key',
    SMTP_URL: 'smtp://mail.example',
  }
  const program = new Program(['work', MODULE, '--queues', 'SCREENSHOT'], env)
  await asked
  const below = new Map(treeOf(program.pid).map((pid) => [pid, argumentsOf(pid)]))
  expect([...below.values()].filter((each) => each.includes('village-capture-'))).not.toEqual([])
  // The worker, the process of the handler, and those of Chromium.
  expect(below.size).toBeGreaterThan(4)
  program.signal('SIGKILL')
  const killedAt = performance.now()
  await eventually(async () => [...below].every(([pid, then]) => argumentsOf(pid) !== then), 5_000)
  expect(performance.now() - killedAt).toBeLessThan(2_000)

  // Nobody but this test tells the others: otherwise the lease would have to run out.
  for (const { id } of await t.millrace.workers.list()) await endWorker(t.url, id, { reason: 'killed by the test' })
  server.set('/page', { headers: { 'content-type': 'text/html' }, body: '<title>Here</title>' })
  await t.works()
  expect(await t.ended(job)).toMatchObject({ status: 'completed', result: { title: 'Here' } })
})

/** '' when it is gone. Its number may then be that of another program. */
function argumentsOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  } catch {
    return ''
  }
}
