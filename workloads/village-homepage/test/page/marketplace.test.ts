import { enqueued } from 'millrace/testing'
import { expect, test } from 'vitest'
import { adminSetup } from '../support/admin.ts'

const NOW = new Date('2026-11-18T15:00:00Z')
const OWN = { 'sec-fetch-site': 'same-origin', 'content-type': 'application/x-www-form-urlencoded' }
const GOOD = { name: 'Ada', email: 'Ada@home.example', text: 'Is it dry?\r\nAda' }

async function market() {
  const t = await adminSetup({ clock: { now: () => NOW } })
  const [seller] = await t.sql<{ id: string }>(
    "insert into village.contacts (email, name) values ('bob@work.example', 'Bob <b>') returning id",
  )
  const offer = async (title: string, { price = 40_000, days = 3.5, body = '' } = {}) => {
    const [row] = await t.sql<{ id: string }>(
      `insert into village.listings (title, body, price_cents, seller_id, expires_at)
      values ($1, $2, $3, $4, $5) returning id`,
      [title, body, price, seller?.id, new Date(NOW.getTime() + days * 86_400_000)],
    )
    return row?.id as string
  }
  return Object.assign(t, {
    offer,
    read: async (path: string) => (await t.send(`GET ${path}`)).text(),
    write: (id: string, fields: Record<string, string> = GOOD, headers: Record<string, string> = OWN) =>
      t.send(`POST /village/listings/${id}/write`, { headers, body: new URLSearchParams(fields).toString() }),
    messages: () => t.sql('select * from village.messages order by created_at'),
  })
}

test('listings stand with price, seller and days left, and each has a form to its seller', async () => {
  await using t = await market()
  const boat = await t.offer('A boat <i>')
  await t.offer('Apples', { price: 0, days: 0.5 })
  await t.offer('Over', { days: -1 })
  const page = await t.read('/village/blocks/marketplace')
  expect(page).toMatch(/A boat &lt;i&gt;[\s\S]*\$400<\/strong> <span>Bob &lt;b&gt;<\/span> 3 days left/)
  expect(page).toMatch(/free<\/strong>[\s\S]*ends within a day/)
  expect(page).toContain(`action="/village/listings/${boat}/write"`)
  expect(page).toContain('LISTING_EXPIRATION')
  expect(page).not.toMatch(/Over|bob@work/)
  expect((await t.send('GET /village/market.css')).status).toBe(200)
})

test('an empty marketplace says what will be there', async () => {
  await using t = await market()
  expect(await t.read('/village/blocks/marketplace')).toContain('Nothing is for sale yet.')
})

test('a listing has a page of its own; one that has ended has none', async () => {
  await using t = await market()
  const boat = await t.offer('A boat', { body: 'Two oars.\n<script>alert(1)</script>' })
  const page = await t.read(`/village/listings/${boat}`)
  expect(page).toMatch(/<h1>A boat<\/h1>[\s\S]*Two oars\.\n&lt;script&gt;/)
  const over = await t.offer('Over', { days: -1 })
  const gone = await t.send(`GET /village/listings/${over}`)
  expect([gone.status, await gone.text()]).toEqual([404, expect.stringContaining('or it has ended')])
})

test('a message is stored with the job that relays it, and the buyer learns that it is on its way', async () => {
  await using t = await market()
  const boat = await t.offer('A boat')
  const sent = await t.write(boat)
  expect([sent.status, sent.headers.get('location')]).toEqual([303, `/village/listings/${boat}?told=sent#write`])
  expect(await t.read(`/village/listings/${boat}?told=sent`)).toContain('Your message is on its way.')
  const [message] = await t.messages()
  expect(message).toMatchObject({
    direction: 'to_seller',
    subject: 'A boat',
    body: 'Is it dry?\nAda',
    status: 'waiting',
  })
  const [job] = await enqueued(t.millrace, t.parts.contracts.MESSAGE_RELAY)
  expect(job).toMatchObject({
    createdBy: 'visitor',
    payload: { message_id: message?.id, conversation_id: message?.conversation_id },
  })
  await t.write(boat, { ...GOOD, name: 'Somebody else', text: 'Still there?' })
  expect(await t.sql("select name from village.contacts where email = 'ada@home.example'")).toEqual([{ name: 'Ada' }])
  expect(await t.sql('select count(*)::int as count from village.conversations')).toEqual([{ count: 1 }])
})

test('mistakes are told beside their fields and at the top, with what was filled in', async () => {
  await using t = await market()
  const boat = await t.offer('A boat')
  const refused = await t.write(boat, { name: ' ', email: 'ada', text: '<b>"' })
  const page = await refused.text()
  expect(refused.status).toBe(422)
  expect(page).toMatch(
    /role="alert"><h2>Your message was not sent[\s\S]*Your name has 1 to 80 characters\.[\s\S]*This is no e-mail address/,
  )
  expect(page).toContain(`aria-invalid="true" aria-describedby="email-${boat}-problem"`)
  expect(page).toContain('value="ada"')
  expect(page).toContain('&lt;b&gt;&quot;</textarea>')
  for (const [fields, told] of [
    [{ ...GOOD, email: 'm-abc@relay.villagecompute.com' }, 'This is an address of the village itself.'],
    [{ ...GOOD, email: 'bob@work.example' }, 'This is your own listing.'],
    [{ ...GOOD, name: 'Ada\nBcc: x@example.com' }, 'Your name has a line break'],
    [{ ...GOOD, text: 'x'.repeat(5_001) }, 'Your message has 1 to 5000 characters.'],
  ] as const)
    expect(await (await t.write(boat, fields)).text()).toContain(told)
  expect(await t.messages()).toEqual([])
  expect(await t.sql('select * from village.conversations')).toEqual([])
})

test('a conversation has at most twenty messages an hour, and nobody writes about what is not for sale', async () => {
  await using t = await market()
  const boat = await t.offer('A boat')
  await t.write(boat)
  await t.sql(
    `insert into village.messages (conversation_id, direction, kind, subject, body, created_at)
    select id, 'to_buyer', 'reply', 'x', 'x', $1 from village.conversations, generate_series(1, 19)`,
    [NOW],
  )
  expect(await (await t.write(boat)).text()).toContain('20 messages about this within an hour')
  const over = await t.offer('Over', { days: -1 })
  expect((await t.write(over)).status).toBe(404)
  expect(await t.messages()).toHaveLength(20)
})

test('a form of another website is refused', async () => {
  await using t = await market()
  const boat = await t.offer('A boat')
  const foreign = await t.write(boat, GOOD, { ...OWN, 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' })
  expect(foreign.status).toBe(403)
  expect(await t.messages()).toEqual([])
})
