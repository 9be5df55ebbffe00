// What the CDN calls a picture: by its id, so an address never changes what it shows.

export interface CdnObject {
  readonly media_id: string
  /** Below the CDN's address. */
  readonly key: string
}

export const objectOf = ({ id, contentType }: { id: string; contentType: string }): CdnObject => ({
  media_id: id,
  key: `village/${id}.${contentType.replace('image/', '')}`,
})
