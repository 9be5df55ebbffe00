import { runJob } from 'millrace/testing'
import { expect, test } from 'vitest'
import { masked } from '#src/mail/mask'
import { setup, type Village } from '../support/setup.ts'

const DOMAIN = 'relay.villagecompute.com'
const BUYER = { email: 'ada@home.example', name: 'Ada' }
const SELLER = { email: 'shop.bob@work.example', name: 'Bob' }

interface Written {
  readonly direction?: 'to_seller' | 'to_buyer'
  readonly subject?: string
  readonly body?: string
  readonly attachments?: string[]
}

async function market({ buyer = BUYER, seller = SELLER } = {}) {
  const t = await setup()
  const contact = async ({ email, name }: typeof BUYER) =>
    (
      await t.sql<{ id: string }>('insert into village.contacts (email, name) values ($1, $2) returning id', [
        email,
        name,
      ])
    )[0]?.id
  const [buyerId, sellerId] = [await contact(buyer), await contact(seller)]
  const [listing] = await t.sql<{ id: string }>(
    `insert into village.listings (title, price_cents, seller_id, expires_at)
    values ('A boat', 40000, $1, now() + interval '30 days') returning id`,
    [sellerId],
  )
  const [conversation] = await t.sql<{ id: string }>(
    `insert into village.conversations (listing_id, buyer_id, seller_id, buyer_token, seller_token)
    values ($1, $2, $3, 'bbb', 'sss') returning id`,
    [listing?.id, buyerId, sellerId],
  )
  return Object.assign(t, {
    async write({ direction = 'to_seller', subject = 'Is it there?', body = 'Hello', attachments = [] }: Written = {}) {
      const [row] = await t.sql<{ id: string }>(
        `insert into village.messages (conversation_id, direction, kind, subject, body, attachments)
        values ($1, $2, 'inquiry', $3, $4, $5) returning id`,
        [conversation?.id, direction, subject, body, attachments],
      )
      return row?.id as string
    },
    async notice(subject: string) {
      const [row] = await t.sql<{ id: string }>(
        `insert into village.messages (recipient_id, direction, kind, subject, body)
        values ($1, 'notice', 'reminder_7d', $2, 'In a week') returning id`,
        [sellerId, subject],
      )
      return row?.id as string
    },
    relay: (id: string) => runJob(t.handler('MESSAGE_RELAY'), { message_id: id }, { millrace: t.millrace }),
    status: async (id: string) =>
      (await t.sql<{ status: string }>('select status from village.messages where id = $1', [id]))[0]?.status,
  })
}

const mails = ({ sandbox }: Village) => sandbox.mailboxes.mails

test('a message reaches the other party from a masked address, and no byte of it has the real one of the writer', async () => {
  await using t = await market()
  const id = await t.write({
    subject: 'Boat, by ADA@home.example',
    body: `Write to ada@home.example.\n\n> ${SELLER.email} wrote:\n> From: "Bob" <SHOP.BOB@work.example>\n> ada@home.example asks`,
    attachments: ['boat.jpg'],
  })
  expect(await t.relay(id)).toMatchObject({ outcome: 'completed', result: { smtp_message_id: `<${id}@${DOMAIN}>` } })
  const [mail] = mails(t)
  expect(mail).toMatchObject({ to: SELLER.email, from: `m-bbb@${DOMAIN}`, messageId: `<${id}@${DOMAIN}>` })
  expect(mail?.raw).toMatch(/^From: Ada via Village <m-bbb@relay\.villagecompute\.com>\r$/m)
  expect(mail?.raw).toMatch(/^Reply-To: Ada via Village <m-bbb@relay\.villagecompute\.com>\r$/m)
  expect(mail?.raw.toLowerCase()).not.toContain(BUYER.email)
  expect(mail?.text.toLowerCase()).not.toContain(SELLER.email)
  expect(mail?.text).toContain('[The attachment "boat.jpg" was not passed on.]')
  expect(await t.status(id)).toBe('sent')
})

test('the answer travels back, from the masked address of the seller', async () => {
  await using t = await market({ seller: { email: 'bob@work.example', name: 'bob@work.example' } })
  await t.relay(await t.write({ direction: 'to_buyer', body: 'Yes, says bob@work.example' }))
  const [mail] = mails(t)
  expect(mail).toMatchObject({ to: BUYER.email, from: `m-sss@${DOMAIN}`, text: `Yes, says m-sss@${DOMAIN}\n` })
  expect(mail?.raw).not.toContain('bob@work.example')
})

test('a message that was sent is not sent again', async () => {
  await using t = await market()
  const id = await t.write()
  await t.relay(id)
  expect(await t.relay(id)).toMatchObject({ outcome: 'completed', result: { smtp_message_id: `<${id}@${DOMAIN}>` } })
  expect(mails(t)).toHaveLength(1)
})

test('a recipient that the server refuses ends the message and pages nobody', async () => {
  await using t = await market({ seller: { email: 'nobody@work.example', name: 'Nobody' } })
  const id = await t.write()
  expect(await t.relay(id)).toMatchObject({ outcome: 'cancelled', reason: expect.stringContaining('550') })
  expect(await t.status(id)).toBe('undeliverable')
  expect(await t.relay(id)).toMatchObject({ outcome: 'cancelled' })
  expect(mails(t)).toEqual([])
})

test('a server that is down or busy is tried again', async () => {
  await using t = await market()
  const id = await t.write()
  for (const mode of ['down', 'limited'] as const) {
    t.sandbox.set('smtp', mode)
    expect(await t.relay(await t.write())).toMatchObject({ outcome: 'retry' })
  }
  t.sandbox.set('smtp', 'ok')
  expect(await t.relay(id)).toMatchObject({ outcome: 'completed' })
  expect(await t.status(id)).toBe('sent')
})

test.each(['A\r\nBcc: all@example.com', 'A\nB', 'A\rB'])(
  'a subject with a line break is not sent: %j',
  async (subject) => {
    await using t = await market()
    expect(await t.relay(await t.write({ subject }))).toMatchObject({
      outcome: 'dead',
      failure: { message: 'The subject of the message has a line break or NUL: it is not sent.' },
    })
    expect(mails(t)).toEqual([])
  },
)

test('what is longer than 256 KB is cut, and says so', async () => {
  await using t = await market()
  await t.relay(await t.write({ body: `${'é'.repeat(60)}\n`.repeat(4_000) }))
  const text = mails(t)[0]?.text ?? ''
  expect(text).toMatch(/é\s+\[The rest was not passed on\.\]\n?$/)
  expect(text).not.toContain('\ufffd')
  expect(Buffer.byteLength(text)).toBeLessThan(257 * 1_024)
})

test('a notice comes from the village, and one that is gone is no error', async () => {
  await using t = await market()
  await t.relay(await t.notice('Your listing ends in a week'))
  expect(mails(t)[0]).toMatchObject({
    to: SELLER.email,
    from: `village@${DOMAIN}`,
    subject: 'Your listing ends in a week',
  })
  expect(await t.relay('5f0f6f2e-6f0c-4c58-9d3a-0e1f5b7a9c11')).toMatchObject({ outcome: 'cancelled' })
})

test('addresses are masked in whatever case they are written, and only as a whole', () => {
  const masks = [{ real: 'a+b@x.example', masked: 'm-1@r.example' }]
  expect(masked('A+B@X.EXAMPLE, a+b@xyexample, a+b@x.example!', masks)).toBe(
    'm-1@r.example, a+b@xyexample, m-1@r.example!',
  )
})
