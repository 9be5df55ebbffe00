// Types of sports places, with the codes of the public LIPAS classification, and the categories by which diversity is counted.

export type GeometryKind = 'Point' | 'LineString' | 'Polygon'

export interface SiteType {
  readonly typeCode: number
  readonly name: string
  readonly geometryType: GeometryKind
}

export interface Category {
  readonly name: string
  readonly typeCodes: readonly number[]
  /** What a place of this category within reach adds to the index. */
  readonly factor: number
}

const types = (geometryType: GeometryKind, names: Readonly<Record<number, string>>): SiteType[] =>
  Object.entries(names).map(([code, name]) => ({ typeCode: Number(code), name, geometryType }))

export const SITE_TYPES: readonly SiteType[] = [
  ...types('Polygon', {
    101: 'Neighbourhood park',
    103: 'Outdoor recreation area',
    108: 'Recreational forest',
    4510: 'Orienteering area',
  }),
  ...types('Point', {
    1110: 'Playground',
    1120: 'Neighbourhood sports area',
    1130: 'Outdoor gym',
    1140: 'Parkour area',
    1150: 'Skatepark',
    1180: 'Disc golf course',
    1210: 'Athletics training area',
    1220: 'Athletics field',
    1310: 'Basketball court',
    1330: 'Beach volleyball court',
    1340: 'Ball field',
    1370: 'Tennis court area',
    1390: 'Padel court area',
    1520: 'Ice-skating field',
    1530: 'Rink',
    2110: 'Fitness centre',
    2120: 'Gym',
    2150: 'Gymnastics hall',
    2210: 'Sports hall',
    2240: 'Floorball hall',
    2260: 'Badminton hall',
    2280: 'Tennis hall',
    2380: 'Parkour hall',
    2510: 'Training ice arena',
    3110: 'Public indoor swimming pool',
    3210: 'Open-air pool',
    3220: 'Swimming beach',
    3240: 'Winter swimming place',
  }),
  ...types('LineString', {
    4401: 'Fitness trail',
    4402: 'Ski track',
    4403: 'Walking route',
    4404: 'Nature trail',
    4405: 'Hiking route',
    4411: 'Mountain bike route',
    4412: 'Cycling route',
  }),
]

export const CATEGORIES: readonly Category[] = [
  { name: 'neighbourhood', typeCodes: [1110, 1120, 1130], factor: 1 },
  { name: 'ball-games', typeCodes: [1310, 1330, 1340], factor: 1 },
  { name: 'rackets', typeCodes: [1370, 1390, 2260, 2280], factor: 1 },
  { name: 'athletics', typeCodes: [1210, 1220], factor: 1 },
  { name: 'skate-and-parkour', typeCodes: [1140, 1150, 2380], factor: 1 },
  { name: 'ice', typeCodes: [1520, 1530, 2510], factor: 1 },
  { name: 'gyms', typeCodes: [2110, 2120], factor: 1 },
  { name: 'halls', typeCodes: [2150, 2210, 2240], factor: 1 },
  { name: 'swimming-halls', typeCodes: [3110], factor: 1.5 },
  { name: 'open-water', typeCodes: [3210, 3220, 3240], factor: 0.5 },
  { name: 'trails', typeCodes: [4401, 4402, 4403, 4404, 4405, 4411, 4412], factor: 1 },
  { name: 'green-areas', typeCodes: [101, 103, 108, 1180, 4510], factor: 0.5 },
]
