{{- /* `make docs` writes this file from src/settings/rows. */ -}}
{{- define "gatewarden.gatewaySettings" -}}
- { name: GW_BODY_LIMIT_MIB, value: {{ int64 .Values.gateway.bodyLimitMiB | quote }} }
- { name: GW_DRAIN_SECONDS, value: {{ int64 .Values.gateway.drainSeconds | quote }} }
- { name: GW_LEAVE_SECONDS, value: {{ int64 .Values.gateway.leaveSeconds | quote }} }
- { name: GW_USD_TO_EUR, value: {{ .Values.configuration.usdToEur | quote }} }
- { name: LOG_LEVEL, value: {{ .Values.gateway.logLevel | quote }} }
{{- with .Values.gateway.docsUrl }}
- { name: GW_DOCS_URL, value: {{ . | quote }} }
{{- end }}
{{- with .Values.gateway.publicUrl }}
- { name: GW_PUBLIC_URL, value: {{ . | quote }} }
{{- end }}
{{- end -}}

{{- define "gatewarden.engineSettings" -}}
- { name: GW_INFERENCE_MAX_RSS_MIB, value: {{ int64 .Values.inference.maxRssMiB | quote }} }
- { name: GW_INFERENCE_WORKERS, value: {{ int64 .Values.inference.workers | quote }} }
- { name: LOG_LEVEL, value: {{ .Values.inference.logLevel | quote }} }
{{- end -}}

{{- define "gatewarden.controllerSettings" -}}
- { name: GW_USD_TO_EUR, value: {{ .Values.configuration.usdToEur | quote }} }
- { name: LOG_LEVEL, value: {{ .Values.controller.logLevel | quote }} }
{{- end -}}
