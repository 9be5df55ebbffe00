/** The engine's version, as workers register it. A test keeps it equal to package.json. */
export const VERSION = '0.1.0'
