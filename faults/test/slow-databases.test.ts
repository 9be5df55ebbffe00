import { testScenarios } from './scenario-suite.ts'

testScenarios('f08', 'f10')
