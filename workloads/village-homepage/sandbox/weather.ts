// The National Weather Service and Open-Meteo: points, forecasts and active alerts.
import { type Answer, type Call, json, type Service } from '@millrace/sandbox'

export interface SandboxAlert {
  readonly id: string
  readonly event: string
  readonly severity: 'Minor' | 'Moderate' | 'Severe' | 'Extreme'
  readonly headline: string
  readonly expires: Date
}

const SKIES = [
  'Sunny',
  'Mostly Sunny',
  'Partly Cloudy',
  'Cloudy',
  'Chance Rain Showers',
  'Patchy Fog',
  'Light Snow',
] as const
const HOUR_MS = 3_600_000

interface WeatherOptions {
  readonly misbehaves: boolean
  readonly now: () => Date
}

export class WeatherService implements Service {
  /** Those that have not expired are active. */
  readonly alerts: SandboxAlert[]
  readonly #now: () => Date
  readonly #misbehaves: boolean
  #count = 0

  constructor({ misbehaves, now }: WeatherOptions) {
    this.#now = now
    this.#misbehaves = misbehaves
    this.alerts = misbehaves ? [stormUntil(new Date(now().getTime() + HOUR_MS))] : []
  }

  answer({ path, query, headers }: Call): Answer {
    if (!headers['user-agent']) return problem(403, 'Forbidden', 'A User-Agent is required.')
    this.#count += 1
    if (this.#misbehaves && this.#count % 20 === 0) return problem(500, 'Unexpected Problem', 'Try again later.')
    const point = /^\/points\/(-?[\d.]+),(-?[\d.]+)$/.exec(path)
    if (point !== null) return this.#point(Number(point[1]), Number(point[2]), headers.host ?? '')
    if (/^\/gridpoints\/SBX\/\d+,\d+\/forecast$/.test(path)) return this.#forecast()
    if (path === '/alerts/active' && query.has('point')) return this.#active()
    return problem(404, 'Not Found', `'${path}' is not a valid resource path`)
  }

  limited(): Answer {
    return problem(503, 'Rate Limited', 'Please slow down.', { 'retry-after': '5' })
  }

  /** Only places in the United States have a forecast office. */
  #point(latitude: number, longitude: number, host: string): Answer {
    if (longitude > -60 || longitude < -180 || latitude < 15)
      return problem(404, 'Data Unavailable For Requested Point', `Unable to provide data for ${latitude},${longitude}`)
    const grid = `${Math.round(latitude)},${Math.round(-longitude)}`
    const forecast = `http://${host}/nws/gridpoints/SBX/${grid}/forecast`
    return json(200, { properties: { gridId: 'SBX', forecast, timeZone: 'America/New_York' } }, GEO)
  }

  #forecast(): Answer {
    const start = new Date(this.#now())
    start.setUTCHours(start.getUTCHours() < 18 ? 6 : 18, 0, 0, 0)
    const periods = Array.from({ length: 14 }, (_, i) => {
      const from = new Date(start.getTime() + i * 12 * HOUR_MS)
      const isDaytime = from.getUTCHours() === 6
      return {
        number: i + 1,
        name: isDaytime ? from.toLocaleDateString('en-US', { weekday: 'long', timeZone: 'UTC' }) : 'Night',
        startTime: from.toISOString(),
        isDaytime,
        temperature: 58 + Math.round(9 * Math.sin(dayNumber(from))) - (isDaytime ? 0 : 14),
        temperatureUnit: 'F',
        windSpeed: '5 to 10 mph',
        shortForecast: SKIES[(dayNumber(from) * 3) % SKIES.length],
        probabilityOfPrecipitation: { unitCode: 'wmoUnit:percent', value: (dayNumber(from) * 17) % 90 },
      }
    })
    return json(200, { properties: { updateTime: this.#now().toISOString(), periods } }, GEO)
  }

  #active(): Answer {
    const active = this.alerts.filter(({ expires }) => expires > this.#now())
    const features = active.map(({ id, event, severity, headline, expires }) => ({
      id: `https://api.weather.gov/alerts/${id}`,
      type: 'Feature',
      properties: {
        id,
        event,
        severity,
        headline,
        expires: expires.toISOString(),
        status: 'Actual',
        messageType: 'Alert',
      },
    }))
    return json(200, { type: 'FeatureCollection', features, title: 'Current watches, warnings, and advisories' }, GEO)
  }
}

export class OpenMeteo implements Service {
  readonly #now: () => Date

  constructor({ now }: Pick<WeatherOptions, 'now'>) {
    this.#now = now
  }

  answer({ path, query }: Call): Answer {
    if (path !== '/v1/forecast') return json(404, { error: true, reason: 'Not Found' })
    const latitude = Number(query.get('latitude') ?? Number.NaN)
    const longitude = Number(query.get('longitude') ?? Number.NaN)
    if (!(Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180))
      return json(400, { error: true, reason: "Parameter 'latitude' and 'longitude' must be given" })
    const days = Array.from({ length: 7 }, (_, i) => new Date(this.#now().getTime() + i * 24 * HOUR_MS))
    const swing = (day: Date): number => Math.round(8 * Math.sin(dayNumber(day) + latitude))
    return json(200, {
      ...{ latitude, longitude, timezone: query.get('timezone') ?? 'GMT' },
      current: {
        time: this.#now().toISOString().slice(0, 16),
        temperature_2m: 12 + swing(this.#now()),
        weather_code: 2,
      },
      daily: {
        time: days.map((day) => day.toISOString().slice(0, 10)),
        temperature_2m_max: days.map((day) => 15 + swing(day)),
        temperature_2m_min: days.map((day) => 7 + swing(day)),
        precipitation_probability_max: days.map((day) => (dayNumber(day) * 13) % 95),
        weather_code: days.map((day) => [0, 2, 3, 61, 80, 45, 71][dayNumber(day) % 7]),
      },
    })
  }

  limited(): Answer {
    return json(429, { error: true, reason: 'Minutely API request limit exceeded. Please try again in one minute.' })
  }
}

export const stormUntil = (expires: Date): SandboxAlert => ({
  id: `urn:oid:2.49.0.1.840.0.${expires.getTime()}`,
  event: 'Severe Thunderstorm Warning',
  severity: 'Severe',
  headline: 'Severe Thunderstorm Warning: gusts up to 60 mph on the harbour',
  expires,
})

const GEO = { 'content-type': 'application/geo+json' }
const dayNumber = (at: Date): number => Math.floor(at.getTime() / (24 * HOUR_MS))

const problem = (
  status: number,
  title: string,
  detail: string,
  headers: Readonly<Record<string, string>> = {},
): Answer => json(status, { type: 'https://api.weather.gov/problems', title, status, detail }, headers)
