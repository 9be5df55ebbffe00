// SQL about pictures: originals, and the variants that are made of them.
import { createHash } from 'node:crypto'
import type { Queryable } from 'millrace'

export type OwnerKind = 'listing' | 'site'
export type OriginalRole = 'upload' | 'desktop' | 'phone'
export type VariantRole = 'thumb' | 'card' | 'full'

interface NewMedia {
  readonly id: string
  readonly ownerKind: OwnerKind
  readonly ownerId: string
  readonly parentId: string | null
  readonly role: OriginalRole | VariantRole
  readonly contentType: string
  /** Null: not known yet. */
  readonly width: number | null
  readonly height: number | null
  readonly bytes: Buffer
}

export type NewOriginal = Omit<NewMedia, 'parentId' | 'role'> & { readonly role: OriginalRole }
export type NewVariant = Omit<NewMedia, 'parentId' | 'role'> & { readonly role: VariantRole; readonly parentId: string }

const KEEP = `
insert into village.media (id, owner_kind, owner_id, parent_id, role, content_type, width, height, sha256, bytes)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
on conflict (parent_id, role, content_type) do update
set width = excluded.width, height = excluded.height, sha256 = excluded.sha256, bytes = excluded.bytes
returning id`

const ORIGINAL = `
select owner_kind as "ownerKind", owner_id as "ownerId", role, bytes
from village.media
where id = $1
  and parent_id is null`

/** An older picture of the same place is gone with its variants. */
const REPLACE = `
with older as (
  select old.id
  from village.media as old
  join village.media as new on new.id = $1
  where old.parent_id is null
    and old.id <> new.id
    and old.owner_kind = new.owner_kind
    and old.owner_id = new.owner_id
    and old.role = new.role
    and old.created_at <= new.created_at
),
known as (
  select id, content_type, cdn_url
  from village.media
  where parent_id in (select id from older)
),
gone as (
  delete from village.media
  where id in (select id from older)
)
select id, content_type as "contentType"
from known
where cdn_url is not null`

const SERVED = `
select content_type as "contentType", sha256, bytes
from village.media
where id = $1
  and parent_id is not null`

const FOR_CDN = `
select content_type as "contentType", bytes
from village.media
where id = $1
  and parent_id is not null`

const PLACE = 'update village.media set cdn_url = $2 where id = $1'

/** Answers with the id: of a variant that was there already, its own. */
async function keep(tx: Queryable, media: NewMedia): Promise<string> {
  const { id, ownerKind, ownerId, parentId, role, contentType, width, height, bytes } = media
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  const values = [id, ownerKind, ownerId, parentId, role, contentType, width, height, sha256, bytes]
  const { rows } = await tx.query(KEEP, values)
  return (rows[0] as { id: string }).id
}

export const keepOriginal = (tx: Queryable, original: NewOriginal): Promise<string> =>
  keep(tx, { ...original, parentId: null })

export const keepVariant = (tx: Queryable, variant: NewVariant): Promise<string> => keep(tx, variant)

export interface Original {
  readonly ownerKind: OwnerKind
  readonly ownerId: string
  readonly role: OriginalRole
  readonly bytes: Buffer
}

export async function originalOf(db: Queryable, id: string): Promise<Original | undefined> {
  return (await db.query(ORIGINAL, [id])).rows[0] as Original | undefined
}

/** Removes what stood in the place of this original before. Answers with the variants that the CDN has. */
export async function replaceOlder(tx: Queryable, id: string): Promise<{ id: string; contentType: string }[]> {
  return (await tx.query(REPLACE, [id])).rows as { id: string; contentType: string }[]
}

export interface ServedMedia {
  readonly contentType: string
  readonly sha256: string
  readonly bytes: Buffer
}

/** Only variants are served: an original may carry what its owner does not know of, such as where it was taken. */
export async function servedMedia(db: Queryable, id: string): Promise<ServedMedia | undefined> {
  return (await db.query(SERVED, [id])).rows[0] as ServedMedia | undefined
}

export async function mediaForCdn(
  db: Queryable,
  id: string,
): Promise<Pick<ServedMedia, 'contentType' | 'bytes'> | undefined> {
  return (await db.query(FOR_CDN, [id])).rows[0] as Pick<ServedMedia, 'contentType' | 'bytes'> | undefined
}

/** Null: the CDN no longer has it. */
export const placeOnCdn = async (db: Queryable, id: string, url: string | null): Promise<void> =>
  void (await db.query(PLACE, [id, url]))
