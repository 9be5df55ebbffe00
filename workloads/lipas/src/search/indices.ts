// The two indices: places, for the search box, and squares with their diversity, for maps of others.
const keyword = { type: 'keyword' } as const
const text = { type: 'text' } as const
/** Kept and returned, not searched. */
const opaque = { type: 'object', enabled: false } as const

export const INDICES = {
  sites: {
    name: 'lipas-sites',
    mappings: {
      dynamic: false,
      properties: {
        'lipas-id': { type: 'integer' },
        name: text,
        'type-code': { type: 'integer' },
        'type-name': text,
        status: keyword,
        'event-date': { type: 'date' },
        centre: { type: 'geo_point' },
        elevation: opaque,
      },
    },
  },
  squares: {
    name: 'lipas-squares',
    mappings: {
      dynamic: false,
      properties: {
        'cell-id': keyword,
        centre: { type: 'geo_point' },
        population: { type: 'integer' },
        index: { type: 'double' },
        categories: opaque,
        nearest: opaque,
        'computed-at': { type: 'date' },
      },
    },
  },
} as const

export type IndexName = keyof typeof INDICES
