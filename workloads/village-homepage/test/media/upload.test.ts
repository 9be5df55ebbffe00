import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { adminSetup } from '../support/admin.ts'
import { photograph, picture } from '../support/pictures.ts'

type Village = Awaited<ReturnType<typeof adminSetup>>

async function addListing(t: Village, { status = 'active' } = {}): Promise<string> {
  const [row] = await t.sql<{ id: string }>(
    `with seller as (
      insert into village.contacts (email, name) values ('ada@example.com', 'Ada')
      on conflict (email) do update set name = excluded.name returning id
    )
    insert into village.listings (title, price_cents, seller_id, status, expires_at)
    select 'Bicycle', 5000, id, $1, now() + interval '30 days' from seller returning id`,
    [status],
  )
  return row?.id as string
}

async function upload(t: Village, listing: string, fields: Record<string, string | Buffer>): Promise<Response> {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields))
    form.append(name, typeof value === 'string' ? value : new File([new Uint8Array(value)], 'picture.jpg'))
  return t.upload(`/village/listings/${listing}/picture`, form)
}

test('a picture of the seller is stored with its job, in one transaction', async () => {
  await using t = await adminSetup()
  const listing = await addListing(t)
  const bytes = await photograph(200, 100)
  const sent = await upload(t, listing, { picture: bytes, email: 'Ada@Example.com' })
  expect([sent.status, sent.headers.get('location')]).toEqual([303, `/village/listings/${listing}?told=picture#add`])
  const [media] = await t.sql<{ id: string; bytes: Buffer }>('select * from village.media')
  expect(media).toMatchObject({ owner_kind: 'listing', owner_id: listing, role: 'upload', content_type: 'image/jpeg' })
  expect(media?.bytes.equals(bytes)).toBe(true)
  expect(await t.sql('select job_type, payload from millrace.delayed_jobs')).toEqual([
    { job_type: 'IMAGE_PROCESSING', payload: { media_id: media?.id, kind: 'listing' } },
  ])
})

test('what cannot be taken is refused with what to do: by whom, what it is, and how large', async () => {
  await using t = await adminSetup({ env: { VILLAGECOMPUTE_MEDIA_MAX_BYTES: '20000' } })
  const listing = await addListing(t)
  const small = await picture(20, 20).png().toBuffer()
  const email = 'ada@example.com'
  const executable = Buffer.from(`\x7fELF${'\0'.repeat(500)}`, 'latin1')
  const large = Buffer.concat([small, Buffer.alloc(20_000)])
  const given: [number, string, string, Record<string, string | Buffer>][] = [
    [403, 'not the e-mail address of the seller', listing, { picture: small, email: 'eve@example.com' }],
    [403, 'not the e-mail address of the seller', randomUUID(), { picture: small, email }],
    [403, 'the listing has ended', await addListing(t, { status: 'expired' }), { picture: small, email }],
    [422, 'The file is no picture that the village takes', listing, { picture: executable, email }],
    [422, 'No picture was chosen', listing, { email }],
    [422, 'No picture was chosen', listing, { picture: 'text', email }],
    [413, 'larger than', listing, { picture: large, email }],
    [
      413,
      'larger than the village accepts',
      listing,
      { picture: Buffer.concat([small, Buffer.alloc(200_000)]), email },
    ],
  ]
  for (const [status, why, id, fields] of given) {
    const answer = await upload(t, id, fields)
    expect([answer.status, await answer.text()], why).toEqual([status, expect.stringContaining(why)])
  }
  expect(await t.sql('select from village.media')).toEqual([])
  expect(await t.sql('select from millrace.delayed_jobs')).toEqual([])
})

test('if the job cannot be enqueued, the picture is not stored', async () => {
  await using t = await adminSetup()
  const listing = await addListing(t)
  await t.sql('alter table millrace.job rename to job_elsewhere')
  const sent = await upload(t, listing, { picture: await picture(20, 20).png().toBuffer(), email: 'ada@example.com' })
  expect(sent.status).toBe(503)
  expect(await t.sql('select from village.media')).toEqual([])
})
