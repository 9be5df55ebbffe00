// IMAGE_PROCESSING, in a process of its own: variants of an uploaded picture, or of a screenshot.
import { randomUUID } from 'node:crypto'
import { cancel, type Handler, type JobContext, Unrecoverable } from 'millrace'
import { objectOf } from '../cdn/object.ts'
import type { VillageContracts } from '../contracts.ts'
import { withConnection } from '../isolated/connection.ts'
import { ownContracts } from '../isolated/contracts.ts'
import { keepVariant, type Original, originalOf, replaceOlder } from './media-store.ts'
import { PictureRefused, type Variant, variantsOf } from './variants.ts'

const handler: Handler<VillageContracts['IMAGE_PROCESSING']> = async ({ media_id: id }, ctx) => {
  const original = await withConnection((db) => originalOf(db, id))
  if (original === undefined) {
    // A screenshot enqueues this job a moment before its pictures are committed.
    if (ctx.attempt === 1) throw new Error(`There is no original ${id} yet.`)
    return cancel(`There is no original ${id}: a newer one took its place, or it was never stored.`)
  }
  const variants = await made(original, ctx)
  // Nothing is open while libvips works.
  return ctx.transaction(async (tx) => {
    const kept: { media_id: string; role: string; format: string; width: number; height: number; bytes: number }[] = []
    for (const { role, format, width, height, bytes } of variants) {
      const { ownerKind, ownerId } = original
      const given = { ownerKind, ownerId, role, width, height, bytes, parentId: id, contentType: `image/${format}` }
      const mediaId = await keepVariant(tx, { id: randomUUID(), ...given })
      kept.push({ media_id: mediaId, role, format, width, height, bytes: bytes.length })
    }
    for (const old of await replaceOlder(tx, id)) await ctx.enqueue(ownContracts().CDN_REMOVE, objectOf(old))
    return { variants: kept }
  })
}

async function made({ bytes, ownerKind }: Original, ctx: JobContext): Promise<Variant[]> {
  try {
    const isShot = ownerKind === 'site'
    return await variantsOf(bytes, { isShot, onProgress: (done, total) => ctx.progress(done, total) })
  } catch (error) {
    if (error instanceof PictureRefused) throw new Unrecoverable(error.message)
    throw error
  }
}

export default handler
