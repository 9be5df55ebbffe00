import { createTransport } from 'nodemailer'
import PostalMime from 'postal-mime'
import { expect, test } from 'vitest'
import { FULL, NEIGHBOURS } from '#sandbox/neighbour'
import { type Sandbox, startSandbox } from '#sandbox/server'

const MASK = 'm-abc@relay.villagecompute.com'

async function told(options: { misbehaves: boolean }) {
  const sandbox = await startSandbox({ answersAfterMs: 0, ...options })
  const { inbox } = sandbox.mailboxes.account('relay')
  return {
    inbox,
    async write(to: string, count: number, messageId = '<id@x>') {
      const before = inbox.mails.length
      await createTransport(sandbox.smtpUrl).sendMail({
        from: MASK,
        to,
        subject: 'A boat',
        text: 'Dry?',
        messageId,
      })
      await arrived(sandbox, () => inbox.mails.length >= before + count)
    },
    [Symbol.asyncDispose]: () => sandbox.stop(),
  }
}

/** The mailbox tells of each mail. */
const arrived = (sandbox: Sandbox, isThere: () => boolean) => sandbox.received.until(isThere)

test('a neighbour answers once, with the mail quoted, and only to masked addresses', async () => {
  await using t = await told({ misbehaves: false })
  await t.write(`greta@${NEIGHBOURS}`, 1)
  const reply = await new PostalMime().parse(t.inbox.mails[0]?.raw as Buffer)
  expect(reply).toMatchObject({ subject: 'Re: A boat', inReplyTo: '<id@x>', from: { address: `greta@${NEIGHBOURS}` } })
  expect(reply.text).toMatch(/^> Dry\?/m)
  expect(t.inbox.mails).toHaveLength(1)
})

test('a full mailbox sends the mail back, with a report that names it', async () => {
  await using t = await told({ misbehaves: false })
  await t.write(FULL, 1)
  expect(t.inbox.mails[0]?.raw.toString()).toMatch(/^Return-Path: <>[\s\S]*Action: failed[\s\S]*Message-ID: <id@x>/)
})

test('when the sandbox misbehaves, a hidden line break and two megabytes follow the first answer', async () => {
  await using t = await told({ misbehaves: true })
  await t.write(`greta@${NEIGHBOURS}`, 3)
  expect(t.inbox.mails.map(({ raw }) => raw.length > 2_000_000)).toEqual([false, false, true])
  await t.write(`greta@${NEIGHBOURS}`, 1, '<other@x>')
  expect(t.inbox.mails).toHaveLength(4)
})
