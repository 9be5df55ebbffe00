import { enqueued } from 'millrace/testing'
import { expect, test } from 'vitest'
import { BUYER, DOMAIN, type Market, market, SELLER } from '../support/market.ts'

const relayJobs = (t: Market) => enqueued(t.millrace, t.parts.contracts.MESSAGE_RELAY)

/** Relays what waits, and answers with the mail that came of it. */
async function delivered(t: Market) {
  for (const { id, status } of await t.messages()) if (status === 'waiting') await t.relay(id as string)
  return t.sandbox.mailboxes.mails[0]
}

test('a reply travels from the buyer to the seller and back, and no relayed byte has a real address', async () => {
  await using t = await market()
  const [first] = await t.sql<{ id: string }>(
    `insert into village.messages (conversation_id, direction, kind, subject, body)
    values ($1, 'to_seller', 'inquiry', 'A boat', 'Is it dry? ada@home.example') returning id`,
    [t.conversationId],
  )
  await t.relay(first?.id as string)
  const toSeller = t.sandbox.mailboxes.of(SELLER.email)[0]
  expect(toSeller?.from).toBe(`m-bbb@${DOMAIN}`)
  await t.post({
    to: toSeller?.from as string,
    text: `Yes!\n\n> On Monday Ada <m-bbb@${DOMAIN}> wrote to ${SELLER.email}:\n> Is it dry?`,
  })
  expect(await t.inbound()).toMatchObject({ outcome: 'completed', result: { fetched: 1, relayed: 1, quarantined: 0 } })
  expect((await relayJobs(t))[0]?.payload).toMatchObject({ conversation_id: t.conversationId })
  const toBuyer = await delivered(t)
  expect(toBuyer).toMatchObject({ to: BUYER.email, from: `m-sss@${DOMAIN}`, subject: 'Re: A boat' })
  await t.post({
    from: BUYER.email,
    to: toBuyer?.from as string,
    text: `Fine. Mine is ${BUYER.email}, yours ${SELLER.email}?`,
  })
  expect(await t.inbound()).toMatchObject({ result: { relayed: 1 } })
  expect(await delivered(t)).toMatchObject({ to: SELLER.email, from: `m-bbb@${DOMAIN}` })
  const relayed = t.sandbox.mailboxes.mails.filter(({ from }) => from.startsWith('m-'))
  expect(relayed).toHaveLength(3)
  for (const { raw, text, subject, to } of relayed) {
    const other = to === SELLER.email ? BUYER : SELLER
    expect(`${raw}${text}${subject}`.toLowerCase()).not.toContain(other.email)
    expect(text.toLowerCase()).not.toContain(to)
  }
  expect([t.folder('INBOX'), t.folder('Processed')]).toEqual([0, 2])
})

test('a mail is taken once, however often the mailbox is read', async () => {
  await using t = await market()
  await t.post()
  await Promise.all([t.inbound(), t.inbound('other')])
  expect(await t.inbound()).toMatchObject({ result: { fetched: 0 } })
  expect(await t.messages()).toHaveLength(1)
  expect(await relayJobs(t)).toHaveLength(1)
})

test('a server that numbers its mails anew makes nothing go out twice', async () => {
  await using t = await market()
  await t.post()
  await t.inbound()
  const account = t.sandbox.mailboxes.account('relay')
  const [mail] = account.folder('Processed')?.mails ?? []
  account.inbox.renumber()
  account.inbox.add(mail?.raw as Buffer)
  expect(await t.inbound()).toMatchObject({ result: { fetched: 1, relayed: 0, quarantined: 0, bounced: 0 } })
  expect(await t.outcomes()).toEqual(['relayed', 'duplicate: It was relayed before, under another number.'])
  expect(await t.messages()).toHaveLength(1)
})

test('a mail that a run has stored but not moved is moved by the next, and not relayed again', async () => {
  await using t = await market()
  await t.post()
  const { inbox } = t.sandbox.mailboxes.account('relay')
  const { raw } = inbox.mails[0] as { raw: Buffer }
  await t.inbound()
  // As if the process had died before the mail was moved.
  await t.sql('update village.inbound_mail set moved_at = null')
  inbox.uidNext = 1
  inbox.add(raw)
  expect(await t.inbound()).toMatchObject({ result: { fetched: 0 } })
  expect([t.folder('INBOX'), t.folder('Processed')]).toEqual([0, 2])
  expect(await t.messages()).toHaveLength(1)
})

const REFUSED = [
  { from: 'eve@evil.example', reason: 'Its sender is not a party of the conversation.' },
  { from: BUYER.email, reason: 'Its sender is not a party of the conversation.' },
  { to: `m-nobody@${DOMAIN}`, reason: 'It is sent to no masked address of a conversation.' },
  { to: `village@${DOMAIN}`, reason: 'It is sent to no masked address of a conversation.' },
  {
    headers: { 'Authentication-Results': 'mx.example; spf=fail; dmarc=fail header.from=work.example' },
    reason: 'The mail server found that its sender is forged (dmarc=fail).',
  },
  { text: ' \n ', reason: 'It has no text.' },
]

test('mails of strangers, to nobody, with a forged sender or without text are quarantined with the reason', async () => {
  await using t = await market()
  for (const { reason: _, ...mail } of REFUSED) await t.post(mail)
  expect(await t.inbound()).toMatchObject({ outcome: 'completed', result: { fetched: 6, quarantined: 6 } })
  expect(await t.outcomes()).toEqual(REFUSED.map(({ reason }) => `quarantined: ${reason}`))
  expect([await t.messages(), t.folder('INBOX'), t.folder('Quarantine')]).toEqual([[], 0, 6])
})

test('a mail with two senders, and a line break that is hidden in a subject, are quarantined', async () => {
  await using t = await market()
  const to = `To: m-bbb@${DOMAIN}\r\n`
  await t.postRaw(`From: ${SELLER.email}\r\nFrom: eve@evil.example\r\n${to}Subject: x\r\n\r\nHello\r\n`)
  const subject = `=?utf-8?B?${Buffer.from('Boat\r\nBcc: all@example.com').toString('base64')}?=`
  await t.postRaw(`From: ${SELLER.email}\r\n${to}Subject: ${subject}\r\n\r\nHello\r\n`)
  await t.inbound()
  expect(await t.outcomes()).toEqual([
    'quarantined: It names more than one sender, or none.',
    'quarantined: Its subject has a line break or another control character.',
  ])
  expect(await t.messages()).toEqual([])
})

test('a mail of two megabytes is quarantined without being read', async () => {
  await using t = await market()
  await t.post({ text: 'a'.repeat(2 * 1024 * 1024) })
  await t.post({ text: 'A short one' })
  expect(await t.inbound()).toMatchObject({ result: { fetched: 2, relayed: 1, quarantined: 1 } })
  expect((await t.outcomes())[0]).toMatch(/^quarantined: It has 2\d{6} bytes, and 1 MB is the most\.$/)
})

test('a mail of an answering machine or of a mailing list is not relayed: no loop', async () => {
  await using t = await market()
  await t.post({ headers: { 'Auto-Submitted': 'auto-replied' } })
  await t.post({ headers: { Precedence: 'bulk' } })
  expect(await t.inbound()).toMatchObject({ result: { fetched: 2, bounced: 2 } })
  expect([await t.messages(), await relayJobs(t)]).toEqual([[], []])
})

test('a bounce marks its message, and tells the writer once', async () => {
  await using t = await market()
  const [first] = await t.sql<{ id: string }>(
    `insert into village.messages (conversation_id, direction, kind, subject, body)
    values ($1, 'to_seller', 'inquiry', 'A boat', 'Hello') returning id`,
    [t.conversationId],
  )
  const id = first?.id as string
  await t.relay(id)
  const report = [
    ...[
      'From: MAILER-DAEMON@work.example',
      `To: m-bbb@${DOMAIN}`,
      'Subject: Undelivered',
      'Auto-Submitted: auto-replied',
    ],
    'Content-Type: multipart/report; report-type=delivery-status; boundary=b',
    ...['', '--b', 'Content-Type: text/plain', '', 'It could not be delivered.'],
    ...[
      '--b',
      'Content-Type: message/delivery-status',
      '',
      'Final-Recipient: rfc822; x',
      'Action: failed',
      'Status: 5.1.1',
    ],
    ...['--b', 'Content-Type: text/rfc822-headers', '', `Message-ID: <${id}@${DOMAIN}>`, '--b--', ''],
  ].join('\r\n')
  for (let i = 0; i < 2; i++) await t.postRaw(report, { from: '', to: `m-bbb@${DOMAIN}` })
  expect(await t.inbound()).toMatchObject({ result: { bounced: 2, relayed: 0 } })
  const [message, notice, ...more] = await t.messages()
  expect(message).toMatchObject({ status: 'undeliverable', problem: expect.stringContaining('It came back') })
  expect(notice).toMatchObject({
    direction: 'notice',
    recipient_id: t.buyerId,
    subject: 'Your message about A boat was not delivered',
  })
  expect(more).toEqual([])
})

test('a bounce to another conversation marks nothing', async () => {
  await using t = await market()
  const [first] = await t.sql<{ id: string }>(
    `insert into village.messages (conversation_id, direction, kind, subject, body, status)
    values ($1, 'to_seller', 'inquiry', 'A boat', 'Hello', 'sent') returning id`,
    [t.conversationId],
  )
  await t.post({
    ...{ from: 'eve@evil.example', to: `village@${DOMAIN}`, headers: { 'Auto-Submitted': 'auto-replied' } },
    text: `Action: failed\nMessage-ID: <${first?.id}@${DOMAIN}>`,
  })
  await t.inbound()
  expect(await t.messages()).toMatchObject([{ status: 'sent' }])
})

test('more than twenty messages in an hour are not relayed', async () => {
  await using t = await market()
  await t.sql(
    `insert into village.messages (conversation_id, direction, kind, subject, body)
    select $1, 'to_buyer', 'reply', 'x', 'x' from generate_series(1, 20)`,
    [t.conversationId],
  )
  await t.post()
  await t.inbound()
  expect(await t.outcomes()).toEqual(['quarantined: The conversation has had 20 messages within an hour.'])
})

test('HTML becomes text, attachments are named, and a subject is found where there is none', async () => {
  await using t = await market()
  const parts = [
    '--b\r\nContent-Type: text/html\r\n\r\n<p>Yes, <b>it is</b></p><script>alert(1)</script>\r\n',
    '--b\r\nContent-Type: image/jpeg; name="boat.jpg"\r\nContent-Disposition: attachment; filename="boat.jpg"\r\n\r\nxx\r\n--b--\r\n',
  ]
  await t.postRaw(
    `From: "Bob" <SHOP.BOB@work.example>\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n${parts.join('')}`,
  )
  await t.inbound()
  expect(await t.messages()).toMatchObject([
    { direction: 'to_buyer', subject: 'Re: A boat', body: 'Yes, it is', attachments: ['boat.jpg'] },
  ])
})

test('fifty mails are taken at once, the others by the next run', async () => {
  await using t = await market()
  const { inbox } = t.sandbox.mailboxes.account('relay')
  for (let i = 0; i < 60; i++)
    inbox.add(Buffer.from(`Delivered-To: m-none@${DOMAIN}\r\nMessage-ID: <${i}@x>\r\n\r\nHello\r\n`))
  expect(await t.inbound()).toMatchObject({ result: { fetched: 50, quarantined: 50 } })
  expect(await t.inbound()).toMatchObject({ result: { fetched: 10, quarantined: 10 } })
})

test('a server that is down, or refuses the login, is tried again; a mailbox that is not there is named', async () => {
  await using t = await market()
  t.sandbox.set('imap', 'down')
  expect(await t.inbound()).toMatchObject({ outcome: 'retry' })
  t.sandbox.set('imap', 'limited')
  const failure = { message: expect.stringMatching(/^The mailbox INBOX cannot be opened: .*Too many logins/) }
  expect(await t.inbound('second')).toMatchObject({ outcome: 'retry', failure })
  t.sandbox.set('imap', 'ok')
  expect(await t.inbound('third', { mailbox: 'Attic' })).toMatchObject({
    failure: { message: expect.stringMatching(/The mailbox Attic cannot be opened.*There is no folder Attic/) },
  })
})
