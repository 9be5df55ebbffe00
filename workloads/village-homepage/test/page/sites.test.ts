// Good sites on the page: their pictures, and the form with which visitors submit one.
import { runJob } from 'millrace/testing'
import { expect, test } from 'vitest'
import { adminSetup } from '../support/admin.ts'
import { addSite } from '../support/captures.ts'
import { addOriginal, photograph, variantRows } from '../support/pictures.ts'

const FORM = { 'sec-fetch-site': 'same-origin', 'content-type': 'application/x-www-form-urlencoded' }

type Village = Awaited<ReturnType<typeof adminSetup>>

const submit = (t: Village, fields: Record<string, string>) =>
  t.send('POST /village/sites', { body: new URLSearchParams(fields).toString(), headers: FORM })
const block = async (t: Village) => (await t.send('GET /village/blocks/sites')).text()

test('a submitted site is stored with the workflow that takes its picture, waits for that, and is known the second time', async () => {
  await using t = await adminSetup()
  const sent = await submit(t, { url: 'library.example/#top', title: ' The <b>  library', category: 'Culture' })
  expect([sent.status, sent.headers.get('location')]).toEqual([303, '/village?told=site-added#sites'])
  expect(await t.sql('select url, title, category, status from village.good_sites')).toEqual([
    { url: 'https://library.example/', title: 'The <b> library', category: 'Culture', status: 'pending' },
  ])
  const jobs = await t.sql('select job_type, payload from millrace.delayed_jobs')
  expect(jobs).toMatchObject([{ job_type: 'SCREENSHOT_CAPTURE', payload: { url: 'https://library.example/' } }])
  expect(await block(t)).toMatch(/The picture is being taken[\s\S]*The &lt;b&gt; library[\s\S]*is being looked at/)
  const again = await submit(t, { url: 'https://library.example/' })
  expect(again.headers.get('location')).toBe('/village?told=site-known#sites')
  expect(await t.sql('select from millrace.delayed_jobs')).toHaveLength(1)
  const page = await (await t.send('GET /village?told=site-added')).text()
  expect(page).toContain('<p class="told" role="status">Thank you.')
  expect(await (await t.send('GET /village?told=<b>')).text()).not.toContain('class="told"')
})

test('what is no address of a site is refused with what to do, and nothing is stored', async () => {
  await using t = await adminSetup()
  const long = 'x'.repeat(3_000)
  for (const url of [
    '',
    'not a url',
    'javascript:alert(1)',
    'file:///etc/passwd',
    'https://a:b@c.example/',
    `https://c.example/${long}`,
  ]) {
    const answer = await submit(t, { url })
    expect([answer.status, await answer.text()], url).toEqual([422, expect.stringContaining('Go back and')])
  }
  expect((await submit(t, { url: 'https://c.example', title: long })).status).toBe(422)
  expect(await t.sql('select from village.good_sites')).toEqual([])
  expect(await t.sql('select from millrace.delayed_jobs')).toEqual([])
})

test('if the workflow cannot be started, the site is not stored', async () => {
  await using t = await adminSetup()
  await t.sql('alter table millrace.workflow rename to workflow_elsewhere')
  const answer = await submit(t, { url: 'https://c.example/' })
  expect(answer.status).toBe(503)
  expect(await t.sql('select from village.good_sites')).toEqual([])
})

test('a picture takes the place of its placeholder, and comes from the CDN only while that is the one in use', async () => {
  await using t = await adminSetup()
  const site = await addSite(t, 'https://library.example/', { title: 'Library "A"', status: 'listed' })
  expect(await block(t)).toContain('<span class="picture waiting">The picture is being taken</span>')
  const shot = await addOriginal(t, await photograph(640, 400), { ownerKind: 'site', ownerId: site, role: 'desktop' })
  await runJob(t.handler('IMAGE_PROCESSING'), { media_id: shot, kind: 'screenshot' }, { millrace: t.millrace })
  const [thumb] = (await variantRows(t, shot)).filter(
    ({ role, content_type }) => role === 'thumb' && content_type === 'image/webp',
  )
  await expect.poll(() => block(t)).toContain(`<img src="/village/media/${thumb?.id}"`)
  expect(await block(t)).toContain('alt="Screenshot of Library &quot;A&quot;"')

  const answer = await t.send(`GET /village/media/${thumb?.id}`)
  expect(Object.fromEntries(answer.headers)).toMatchObject({
    'content-type': 'image/webp',
    'x-content-type-options': 'nosniff',
    'cache-control': 'public, max-age=31536000, immutable',
  })
  expect(Buffer.from(await answer.arrayBuffer()).equals(thumb?.bytes ?? Buffer.alloc(0))).toBe(true)
  const known = { 'if-none-match': answer.headers.get('etag') ?? '' }
  expect((await t.send(`GET /village/media/${thumb?.id}`, { headers: known })).status).toBe(304)
  // An original may say where it was taken.
  expect((await t.send(`GET /village/media/${shot}`)).status).toBe(404)

  const { publicUrl } = t.parts.outside.addresses.cdn
  await t.sql(
    `update village.media set cdn_url = case content_type when 'image/webp' then $1 else $2 end where role = 'thumb'`,
    [`${publicUrl}/village/1.webp`, 'https://old-cdn.example/village/1.avif'],
  )
  await expect.poll(() => block(t)).toContain(`<img src="${publicUrl}/village/1.webp"`)
  expect(await block(t)).not.toContain('old-cdn')
  const policy = (await t.send('GET /village')).headers.get('content-security-policy')
  expect(policy).toContain(`img-src 'self' data: ${new URL(publicUrl).origin};`)
})
