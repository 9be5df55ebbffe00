// Twelve sites at once, as many browsers as P12 permits.
import { expect, test } from 'vitest'
import { signal } from '../../../../packages/engine/test/support/setup.ts'
import { captureSetup } from '../support/captures.ts'
import { startFeedServer } from '../support/feed-server.ts'

test('of twelve screenshots at once never more than three are taken, and all complete', {
  timeout: 180_000,
}, async () => {
  await using server = await startFeedServer()
  await using t = await captureSetup({ allow: [server.address] })
  let [open, most] = [0, 0]
  const three = signal()
  server.set('/page', async (_request, response) => {
    open += 1
    most = Math.max(most, open)
    // The first ones are answered when three browsers have asked, so that all permits are seen in use.
    if (open === 3) three.resolve()
    await three.promise
    // A fourth one would come meanwhile.
    setTimeout(() => {
      open -= 1
      response.writeHead(200, { 'content-type': 'text/html' }).end('<title>Page</title>')
    }, 500)
  })
  const jobs = await Promise.all(Array.from({ length: 12 }, () => t.begin(server.url('/page'))))
  const worker = await t.works()
  const places: number[] = []
  const watching = setInterval(() => places.push(worker.freePlaces('screenshots') ?? -1), 50)
  for (const job of jobs) expect(await t.ended(job)).toMatchObject({ status: 'completed' })
  clearInterval(watching)
  expect(most).toBe(3)
  expect([Math.min(...places), Math.max(...places)]).toEqual([0, 3])
})
