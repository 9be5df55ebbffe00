import { randomUUID } from 'node:crypto'
import { runJob } from 'millrace/testing'
import sharp from 'sharp'
import { expect, test } from 'vitest'
import { addOriginal, blackPng, photograph, picture, variantRows } from '../support/pictures.ts'
import { setup, type Village } from '../support/setup.ts'

const processed = (t: Village, id: string, kind: 'listing' | 'screenshot' = 'listing') =>
  runJob(t.handler('IMAGE_PROCESSING'), { media_id: id, kind }, { millrace: t.millrace, dedupKey: randomUUID() })

test('a photograph becomes three sizes in two formats, upright, and without the place where it was taken', async () => {
  await using t = await setup()
  const original = await photograph()
  expect((await sharp(original).metadata()).exif?.toString('latin1')).toContain('Secret Name')
  const id = await addOriginal(t, original)
  expect(await processed(t, id)).toMatchObject({ outcome: 'completed' })
  const variants = await variantRows(t, id)
  expect(variants.map(({ role, content_type, width, height }) => [role, content_type, width, height])).toEqual([
    ['thumb', 'image/avif', 160, 120],
    ['thumb', 'image/webp', 160, 120],
    ['card', 'image/avif', 480, 360],
    ['card', 'image/webp', 480, 360],
    ['full', 'image/avif', 600, 800],
    ['full', 'image/webp', 600, 800],
  ])
  for (const { bytes, role } of variants) {
    const { exif, iptc, xmp, gps, orientation } = (await sharp(bytes).metadata()) as unknown as Record<string, unknown>
    expect({ exif, iptc, xmp, gps, orientation }, role).toEqual({})
    expect(bytes.includes('Secret Name'), role).toBe(false)
  }
})

test('a large picture is made smaller, a small one not larger, and all five formats are taken', async () => {
  await using t = await setup()
  const given = {
    jpeg: picture(1_400, 700).jpeg(),
    png: picture(60, 40).png(),
    webp: picture(60, 40).webp(),
    avif: picture(60, 40).avif({ effort: 0 }),
    gif: picture(60, 40).gif(),
  }
  for (const [format, made] of Object.entries(given)) {
    const id = await addOriginal(t, await made.toBuffer())
    expect(await processed(t, id), format).toMatchObject({ outcome: 'completed' })
    const full = (await variantRows(t, id)).find(({ role }) => role === 'full')
    expect([full?.width, full?.height], format).toEqual(format === 'jpeg' ? [1_280, 640] : [60, 40])
  }
})

const SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><image href="file:///etc/passwd"/></svg>'

test('what is no picture is refused at once: an executable by another name, SVG, TIFF, nothing, and a damaged file', async () => {
  await using t = await setup()
  const whole = await picture(400, 300).jpeg().toBuffer()
  const refused: Record<string, [Buffer, string]> = {
    executable: [Buffer.from(`\x7fELF${'\0'.repeat(500)}`, 'latin1'), 'The file is no picture'],
    svg: [Buffer.from(SVG), 'The file is no picture'],
    tiff: [await picture(50, 50).tiff().toBuffer(), 'The file is no picture'],
    nothing: [Buffer.alloc(0), 'The file is no picture'],
    damaged: [whole.subarray(0, whole.length / 2), 'The picture is damaged'],
  }
  for (const [name, [bytes, why]] of Object.entries(refused)) {
    const id = await addOriginal(t, bytes)
    const run = await processed(t, id)
    expect(run, name).toMatchObject({ outcome: 'dead', failure: { message: expect.stringContaining(why) } })
    expect(await variantRows(t, id), name).toEqual([])
  }
})

test('200 megapixels are refused before one of them is decoded', async () => {
  await using t = await setup()
  const bomb = blackPng(20_000, 10_000)
  expect(bomb.length).toBeLessThan(100_000)
  const id = await addOriginal(t, bomb)
  const startedAt = performance.now()
  const run = await processed(t, id)
  expect(run).toMatchObject({
    outcome: 'dead',
    failure: { message: 'The picture has 20000 × 10000 pixels: expected at most 40 million.' },
  })
  expect(performance.now() - startedAt).toBeLessThan(2_000)
})

test('a second run writes the same variants, and their addresses stay', async () => {
  await using t = await setup()
  const id = await addOriginal(t, await photograph(320, 240))
  await processed(t, id)
  const before = await variantRows(t, id)
  await processed(t, id)
  expect((await variantRows(t, id)).map((row) => row.id)).toEqual(before.map((row) => row.id))
})

test('a newer picture takes the place of the older one, and an original that is gone ends its job quietly', async () => {
  await using t = await setup()
  const owner = { ownerId: randomUUID() }
  const bytes = await photograph(320, 240)
  const old = await addOriginal(t, bytes, owner)
  await processed(t, old)
  const fresh = await addOriginal(t, bytes, owner)
  expect(await variantRows(t, old)).toHaveLength(6)
  await processed(t, fresh)
  expect(await variantRows(t, old)).toEqual([])
  expect(await variantRows(t, fresh)).toHaveLength(6)
  expect(await processed(t, old)).toMatchObject({ outcome: 'retry' })
})
