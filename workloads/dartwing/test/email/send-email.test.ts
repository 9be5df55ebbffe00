// Mail: what the server refuses for good is not tried again, the rest is, and shows as one mail.
import { runJob } from 'millrace/testing'
import { expect, test } from 'vitest'
import { emailInsert } from '#src/email/email-store'
import { type Dartwing, LARGE, setup } from '../support/dartwing.ts'

const METHOD = 'dartwing_core.email.send'
const TO = 'ann@example.com'

const newEmail = (t: Dartwing, { to = TO, subject = 'Hello' } = {}): Promise<string> =>
  t.millrace.tenantDb(LARGE, (tx) => emailInsert(tx, LARGE, { to, subject, body: 'Grüße aus Łódź' }))

const send = (t: Dartwing, email: string) =>
  runJob(t.handler(METHOD), { organization: LARGE, email } as never, { millrace: t.millrace })

const statusOf = async (t: Dartwing, email: string) =>
  (await t.sql<{ status: string }>('select status from dartwing.email where id = $1', [email]))[0]?.status

test('a mail arrives whole, under a Message-ID of its row', async () => {
  await using t = await setup()
  const email = await newEmail(t)
  const messageId = `<email-${email}@dartwing.example>`
  expect(await send(t, email)).toMatchObject({ outcome: 'completed', result: { messageId, accepted: true } })
  expect(t.sandbox.mailboxes.of(TO)).toMatchObject([{ subject: 'Hello', text: 'Grüße aus Łódź\n', messageId }])
  expect(await statusOf(t, email)).toBe('sent')
})

test('a server that is away for now fails the attempt, and the next one has the same Message-ID', async () => {
  await using t = await setup()
  const email = await newEmail(t)
  t.sandbox.set('smtp', 'down')
  expect(await send(t, email)).toMatchObject({ outcome: 'retry', delayMs: 60_000 })
  t.sandbox.set('smtp', 'ok')
  await t.sql('delete from millrace.job')
  await send(t, email)
  expect(t.sandbox.mailboxes.of(TO).map(({ messageId }) => messageId)).toEqual([`<email-${email}@dartwing.example>`])
})

test('a recipient that the server refuses for good is a dead letter at once', async () => {
  await using t = await setup()
  const email = await newEmail(t, { to: 'nobody@example.com' })
  const run = await send(t, email)
  expect(run.outcome).toBe('dead')
  expect(JSON.stringify(run), 'the address is in no error').not.toContain('nobody@')
  expect(await statusOf(t, email)).toBe('refused')
})

test('a suppressed address gets no mail', async () => {
  await using t = await setup()
  const email = await newEmail(t)
  await t.write(
    LARGE,
    `insert into dartwing.email_suppression (organization, address, reason) values ($1, $2, 'unsubscribed') returning address`,
    [LARGE, TO],
  )
  expect(await send(t, email)).toMatchObject({ outcome: 'cancelled' })
  expect(t.sandbox.mailboxes.mails).toEqual([])
  expect(await statusOf(t, email)).toBe('suppressed')
})

test('a line break that would begin a header is refused before anything is written', async () => {
  await using t = await setup()
  await expect(newEmail(t, { subject: 'Hello\r\nBcc: all@example.com' })).rejects.toThrow('would begin a header')
  await expect(newEmail(t, { to: 'ann@example.com\r\nBcc: all@example.com' })).rejects.toThrow('would begin a header')
  expect(await t.sql('select id from dartwing.email')).toEqual([])
})
