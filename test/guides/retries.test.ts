import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createMillrace, type Implementation, type JobContract } from 'millrace'
import { expect, test } from 'vitest'
import { eventually, setup, silent } from '../../packages/engine/test/support/setup.ts'
import { openDocument } from '../support/document.ts'

interface Contracts {
  sendMail: JobContract
  callPartner: JobContract
  refreshCache: JobContract
}

/** Answers with the status that its path names. */
async function partner() {
  const server = createServer(({ url }, response) => {
    response.writeHead(Number(url?.slice(1)), { 'retry-after': '120' }).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: async () => void (await new Promise((resolve) => server.close(resolve))),
  }
}

test('the handlers of the guide end as its table says', async () => {
  await using t = await setup()
  await using server = await partner()
  await using guide = await openDocument('docs/guides/retries.md')
  const { sendMail, callPartner, refreshCache } = await guide.load<Contracts>('contracts.ts')
  const { handlers } = await guide.load<{ handlers: Implementation[] }>('handlers.ts')
  await using millrace = createMillrace({
    database: t.url,
    jobs: [sendMail, callPartner, refreshCache],
    logger: silent,
  })
  await millrace.work({ handlers })

  const ending = async (contract: JobContract, payload: object) => {
    const { id } = await millrace.enqueue(contract, payload as never)
    const job = await eventually(async () => {
      const now = await millrace.job(id)
      return now?.status === 'processing' || (now?.status === 'pending' && now.runAt <= now.createdAt) ? undefined : now
    })
    const wait = Math.round((job.runAt.getTime() - job.createdAt.getTime()) / 1_000)
    return { status: job.status, attempt: job.attempt, reason: job.reason, wait }
  }

  expect(await ending(callPartner, { url: `${server.url}/200` })).toMatchObject({ status: 'completed' })
  expect(await ending(callPartner, { url: `${server.url}/500` })).toMatchObject({ status: 'failed', attempt: 1 })
  expect(await ending(callPartner, { url: `${server.url}/404` })).toMatchObject({
    status: 'dead',
    reason: 'unrecoverable',
  })
  const asked = await ending(callPartner, { url: `${server.url}/429` })
  expect(asked).toMatchObject({ status: 'pending', attempt: 0 })
  expect(Math.abs(asked.wait - 120)).toBeLessThan(30)
  expect(await ending(sendMail, { to: 'a@example.com' })).toMatchObject({ status: 'completed' })
  expect(await ending(sendMail, { to: 'a@example.invalid' })).toMatchObject({ status: 'dead', reason: 'discarded' })
  expect(await ending(sendMail, { to: 'unsubscribed@example.com' })).toMatchObject({ status: 'cancelled' })
  const snoozed = await ending(sendMail, { to: 'later@example.com' })
  expect(snoozed).toMatchObject({ status: 'pending', attempt: 0 })
  expect(Math.abs(snoozed.wait - 600)).toBeLessThan(30)
})
