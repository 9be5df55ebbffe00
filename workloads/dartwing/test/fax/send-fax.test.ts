// Faxes at a gateway that speaks the real protocol: what arrives, what is tried again, and what is not sent twice.
import { runJob } from 'millrace/testing'
import { expect, test } from 'vitest'
import { type Dartwing, LARGE, SMALL, setup } from '../support/dartwing.ts'

const METHOD = 'dartwing_fax.send_fax'
const NUMBER = '+15550100'

const newFax = (t: Dartwing, organization = LARGE, to = NUMBER) =>
  t.write(
    organization,
    `insert into dartwing.fax (organization, document, to_number)
     select $1, id, $2 from dartwing.document limit 1
     returning id`,
    [organization, to],
  )

const send = (t: Dartwing, fax: string, organization = LARGE) =>
  runJob(t.handler(METHOD), { organization, fax } as never, { millrace: t.millrace })

test('a fax arrives with all its pages', async () => {
  await using t = await setup()
  const fax = await newFax(t)
  const run = await send(t, fax)
  expect(run).toMatchObject({ outcome: 'completed', result: { pages: 2 } })
  expect(t.sandbox.fax.faxes).toMatchObject([{ to: NUMBER, numberOfPages: 2, status: 'COMPLETED' }])
  expect(await t.sql('select status, pages from dartwing.fax')).toEqual([{ status: 'sent', pages: 2 }])
})

test('while the gateway dials, the job waits without using an attempt', async () => {
  await using t = await setup({ sandbox: { fax: { dialMs: 60_000 } } })
  const run = await send(t, await newFax(t))
  expect(run).toMatchObject({ outcome: 'snoozed', delayMs: 15_000 })
  expect(await t.sql('select state from dartwing.fax_transmission')).toEqual([{ state: 'dialling' }])
})

test('a busy line fails the attempt, and the next attempt is due exactly ten seconds later', async () => {
  await using t = await setup()
  t.sandbox.fax.plan(NUMBER, 'busy')
  const run = await send(t, await newFax(t))
  expect(run).toMatchObject({ outcome: 'retry', delayMs: 10_000 })
})

test('a number that is not in service is a dead letter at once', async () => {
  await using t = await setup()
  t.sandbox.fax.plan(NUMBER, 'dead-number')
  const run = await send(t, await newFax(t))
  expect(run.outcome).toBe('dead')
  expect(await t.sql('select status from dartwing.fax')).toEqual([{ status: 'failed' }])
})

test('an unreadable document is a dead letter at once', async () => {
  await using t = await setup()
  const fax = await newFax(t)
  await t.sql(`update dartwing.document set content = 'no pdf at all'`)
  expect((await send(t, fax)).outcome).toBe('dead')
})

test('a gateway that is down opens its breaker after five failures, and numbers that are not in service do not', async () => {
  await using t = await setup()
  for (let i = 0; i < 6; i++) {
    t.sandbox.fax.plan(NUMBER, 'dead-number')
    expect((await send(t, await newFax(t))).outcome).toBe('dead')
  }
  expect(await t.millrace.breakers.get('fax-gateway')).toMatchObject({ state: 'closed' })
  t.sandbox.set('fax', 'down')
  for (let i = 0; i < 5; i++) expect((await send(t, await newFax(t))).outcome).toBe('retry')
  expect(await t.millrace.breakers.get('fax-gateway')).toMatchObject({ state: 'open' })
})

test('a fax that the gateway took before the answer was lost is adopted by its label', async () => {
  await using t = await setup()
  const fax = await newFax(t)
  // As after a kill between the gateway's answer and its record: the row is there, without the gateway's id.
  const first = await send(t, fax)
  expect(first.outcome).toBe('completed')
  const [row] = await t.sql<{ job: string }>('select job::text from dartwing.fax_transmission')
  await t.sql(`update dartwing.fax_transmission set gateway_id = null, state = 'submitting'`)
  const { submittedAt } = { submittedAt: new Date(Date.now() - 60_000) }
  const found = await t.system.fax.find(
    { to: NUMBER, label: `${row?.job}:1`, since: submittedAt },
    AbortSignal.timeout(5_000),
  )
  expect(found?.id).toBe(t.sandbox.fax.faxes[0]?.id)
})

test('another organization has no such fax, and nothing reaches the gateway', async () => {
  await using t = await setup()
  const run = await send(t, await newFax(t, SMALL), LARGE)
  expect(run.outcome).toBe('dead')
  expect(JSON.stringify(run)).toContain('Permission denied: ORG-2025-00001 has no fax')
  expect(t.sandbox.fax.faxes).toEqual([])
})
