// What a forecast and an alert are here, whichever service told them.

export interface Current {
  readonly temperature: number
  readonly unit: 'F' | 'C'
  readonly summary: string
}

export interface ForecastDay {
  /** Of the place, such as 2026-11-18. */
  readonly date: string
  readonly high: number | null
  readonly low: number | null
  readonly unit: 'F' | 'C'
  readonly summary: string
  /** In percent; null: the service does not say. */
  readonly rain: number | null
}

export interface Forecast {
  readonly current: Current
  readonly days: readonly ForecastDay[]
}

export interface WeatherAlert {
  readonly id: string
  readonly event: string
  readonly severity: string
  readonly headline: string
  readonly expiresAt: string | null
}

export interface Place {
  readonly id: string
  readonly name: string
  readonly latitude: number
  readonly longitude: number
  readonly timeZone: string
  readonly provider: 'nws' | 'open-meteo'
  /** Where the Weather Service has the forecast of this place; null: it was not asked yet. */
  readonly forecastUrl: string | null
}

export const DAYS = 7
const LONGEST = 500

/** Text of a service, for a database and a page: without control characters, and not endless. */
export const plain = (value: unknown, fallback = ''): string =>
  typeof value === 'string'
    ? value
        .replace(/\p{Cc}+/gu, ' ')
        .trim()
        .slice(0, LONGEST)
    : fallback
