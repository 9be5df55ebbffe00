import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Breaker, createMillrace, type Implementation, type JobContract, type Millrace } from 'millrace'
import { expect, test, vi } from 'vitest'
import { eventually, setup, shortLease, silent } from '../../packages/engine/test/support/setup.ts'
import { blocks, openDocument } from '../support/document.ts'

/** Answers with `status`, or with 404 for an address that does not exist. */
async function mailServer() {
  const answers = { status: 200, calls: 0 }
  const server = createServer(({ url }, response) => {
    answers.calls++
    response.writeHead(url === '/nobody' ? 404 : answers.status).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    answers,
    url: `http://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

test('the jobs of the guide wait while the mail server is down, and go on when it is back', async () => {
  await using t = await setup()
  await using server = await mailServer()
  await using guide = await openDocument('docs/guides/circuit-breakers.md')
  const { sendMail, weeklyDigest } = await guide.load<Record<'sendMail' | 'weeklyDigest', JobContract>>('contracts.ts')
  const { handlers } = await guide.load<{ handlers: Implementation[] }>('handlers.ts')
  const { maintenance } = await guide.load<{ maintenance(millrace: Millrace): Promise<Breaker[]> }>('operator.ts')
  vi.stubEnv('MAIL_SERVER', server.url)
  await using millrace = createMillrace({ database: t.url, jobs: [sendMail, weeklyDigest], logger: silent })
  await millrace.work({ handlers, lease: shortLease })
  const send = (to: string) => millrace.enqueue(sendMail, { to } as never)
  const breaker = () => millrace.breakers.get('email-service')

  server.answers.status = 503
  const opened = millrace.events.next('breaker_opened')
  await Promise.all(['ann', 'bob', 'cid'].map(send))
  await opened
  expect(await breaker()).toMatchObject({ state: 'open', failureCount: 3, settings: { openForMs: 30_000 } })

  const calls = server.answers.calls
  const { id: held } = await send('dan')
  const { id } = await millrace.enqueue(weeklyDigest, { userId: 'eve' } as never)
  expect(await millrace.result(id)).toMatchObject({ result: { keptFor: 'next week' } })
  expect(await millrace.job(held)).toMatchObject({ status: 'pending', attempt: 0 })
  expect(server.answers.calls).toBe(calls)

  server.answers.status = 200
  const [recipe = ''] = blocks('docs/guides/circuit-breakers.md', 'sql')
  await t.sql(`set search_path to millrace, public; ${recipe}`)
  expect(await millrace.result(held)).toMatchObject({ result: { delivered: 'dan' } })

  // Not the server's fault.
  const retried = millrace.events.next('job_retry_scheduled')
  await send('nobody')
  await retried
  expect(await breaker()).toMatchObject({ state: 'closed', failureCount: 0 })

  expect(await maintenance(millrace)).toMatchObject([
    { service: 'email-service', state: 'closed', settings: { failures: 10, openForMs: 300_000, successes: 1 } },
  ])
  await eventually(async () => (await t.sql('select from millrace.audit_log')).length === 3)
  vi.unstubAllEnvs()
})
