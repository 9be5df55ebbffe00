// SQL about the pictures that the page shows: of each listing or site the newest ones that are ready.
import type { Queryable } from 'millrace'
import type { OriginalRole, OwnerKind, VariantRole } from './media-store.ts'

const PICTURES = `
select original.owner_id as "ownerId", original.role as of, variant.id, variant.role,
  variant.content_type as "contentType", variant.width, variant.height, variant.cdn_url as "cdnUrl"
from village.media as original
join village.media as variant on variant.parent_id = original.id
where original.owner_kind = $1
  and original.owner_id = any ($2::uuid[])
order by original.created_at, variant.width`

export interface Picture {
  readonly id: string
  /** What it was made of. */
  readonly of: OriginalRole
  readonly role: VariantRole
  readonly contentType: string
  readonly width: number
  readonly height: number
  /** Null: the CDN does not have it. */
  readonly cdnUrl: string | null
}

/** By owner. An owner without one is not in it. */
export async function picturesOf(
  db: Queryable,
  kind: OwnerKind,
  owners: readonly string[],
): Promise<ReadonlyMap<string, readonly Picture[]>> {
  const { rows } = await db.query(PICTURES, [kind, owners])
  const found = new Map<string, Picture[]>()
  for (const { ownerId, ...picture } of rows as unknown as (Picture & { ownerId: string })[])
    found.set(ownerId, [...(found.get(ownerId) ?? []), picture])
  return found
}
