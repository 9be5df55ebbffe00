// Buyer and seller of one listing, with mails between them.
import { runJob } from 'millrace/testing'
import { createTransport } from 'nodemailer'
import { setup, type VillageSetup } from './setup.ts'

export const DOMAIN = 'relay.villagecompute.com'
export const BUYER = { email: 'ada@home.example', name: 'Ada' }
export const SELLER = { email: 'shop.bob@work.example', name: 'Bob' }

export interface MailToVillage {
  readonly from?: string
  readonly to?: string
  readonly subject?: string
  readonly text?: string
  readonly headers?: Record<string, string>
  readonly messageId?: string
}

export async function market({ buyer = BUYER, seller = SELLER, ...options }: VillageSetup & Parties = {}) {
  const t = await setup(options)
  const idOf = async (statement: string, values: unknown[]): Promise<string> =>
    (await t.sql<{ id: string }>(`${statement} returning id`, values))[0]?.id as string
  const contact = ({ email, name }: typeof BUYER) =>
    idOf('insert into village.contacts (email, name) values ($1, $2)', [email, name])
  const [buyerId, sellerId] = [await contact(buyer), await contact(seller)]
  const listingId = await idOf(
    `insert into village.listings (title, price_cents, seller_id, expires_at)
    values ('A boat', 40000, $1, now() + interval '30 days')`,
    [sellerId],
  )
  const conversationId = await idOf(
    `insert into village.conversations (listing_id, buyer_id, seller_id, buyer_token, seller_token)
    values ($1, $2, $3, 'bbb', 'sss')`,
    [listingId, buyerId, sellerId],
  )
  const transport = createTransport(t.sandbox.smtpUrl)
  return Object.assign(t, {
    ...{ buyerId, sellerId, listingId, conversationId },
    /** By the real SMTP server. Without a name it is the seller who answers the buyer. */
    async post({ from = seller.email, to = `m-bbb@${DOMAIN}`, text = 'Yes.', ...mail }: MailToVillage = {}) {
      return (await transport.sendMail({ subject: 'Re: A boat', ...mail, from, to, text })).messageId
    },
    /** As it is, bytes and all. */
    postRaw: (raw: string, { from = seller.email, to = `m-bbb@${DOMAIN}` } = {}) =>
      transport.sendMail({ envelope: { from, to }, raw }),
    /** Under a key of its own where one before still holds its key. */
    inbound: (dedupKey = 'INBOX', payload: { mailbox?: string } = {}) =>
      runJob(t.handler('INBOUND_EMAIL'), payload, { millrace: t.millrace, dedupKey }),
    /** Beside the job that waits for a worker. */
    relay: (id: string) =>
      runJob(t.handler('MESSAGE_RELAY'), { message_id: id }, { millrace: t.millrace, dedupKey: `test:${id}` }),
    messages: () => t.sql('select * from village.messages order by created_at'),
    outcomes: async () =>
      (
        await t.sql<{ told: string }>(
          "select concat_ws(': ', outcome, reason) as told from village.inbound_mail order by received_at, uid",
        )
      ).map(({ told }) => told),
    folder: (name: string) => t.sandbox.mailboxes.account('relay').folder(name)?.mails.length ?? 0,
  })
}

interface Parties {
  readonly buyer?: typeof BUYER
  readonly seller?: typeof SELLER
}

export type Market = Awaited<ReturnType<typeof market>>
