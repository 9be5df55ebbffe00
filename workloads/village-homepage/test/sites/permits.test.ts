import { expect, test } from 'vitest'
import { screenshotsInUse } from '#src/telemetry/metrics'
import { followScreenshots } from '#src/telemetry/permits'
import { eventually } from '../../../../packages/engine/test/support/setup.ts'
import { captureSetup } from '../support/captures.ts'
import { startFeedServer } from '../support/feed-server.ts'

/** On a busy machine browsers take their time. */
const PATIENCE = { timeout: 120_000 }

test(
  'no more than the permitted captures run at once, whatever waits, and free places and gauge say so',
  PATIENCE,
  async () => {
    await using server = await startFeedServer()
    await using t = await captureSetup({
      allow: [server.address],
      env: { VILLAGECOMPUTE_JOBS_SCREENSHOT_CONCURRENCY: '2' },
    })
    let [open, most] = [0, 0]
    const waiting: (() => void)[] = []
    server.set('/page', (_request, response) => {
      open += 1
      most = Math.max(most, open)
      waiting.push(() => {
        open -= 1
        response.writeHead(200, { 'content-type': 'text/html' }).end('<title>Page</title>')
      })
    })
    const jobs = await Promise.all(Array.from({ length: 4 }, () => t.begin(server.url('/page'))))
    const worker = await t.works()
    const stopFollowing = followScreenshots(worker, t.parts.contracts)
    const gauge = async () => (await screenshotsInUse.metric.get()).values[0]?.value
    await eventually(async () => open === 2, 60_000)
    expect([worker.freePlaces('screenshots'), await gauge()]).toEqual([0, 2])
    const answering = setInterval(() => waiting.shift()?.(), 50)
    for (const job of jobs) expect(await t.ended(job)).toMatchObject({ status: 'completed' })
    clearInterval(answering)
    expect(most).toBe(2)
    await eventually(async () => worker.freePlaces('screenshots') === 2)
    expect(await gauge()).toBe(0)
    stopFollowing()
  },
)
