{{- define "gatewarden.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{- define "gatewarden.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- else if contains (include "gatewarden.name" .) .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "gatewarden.name" .) | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- /* Selector labels of pods: must never change. Takes (list . "component"). */ -}}
{{- define "gatewarden.selector" -}}
{{- $root := index . 0 -}}
app.kubernetes.io/name: {{ include "gatewarden.name" $root }}
app.kubernetes.io/instance: {{ $root.Release.Name }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end -}}

{{- /* Labels of every object. Takes (list . "component"). */ -}}
{{- define "gatewarden.labels" -}}
{{- $root := index . 0 -}}
{{ include "gatewarden.selector" . }}
app.kubernetes.io/part-of: gatewarden
app.kubernetes.io/version: {{ $root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ $root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" $root.Chart.Name $root.Chart.Version | replace "+" "_" }}
{{- end -}}

{{- /* Labels of pods. None of them changes with the version of the chart: that would restart every pod. Takes (list . "component"). */ -}}
{{- define "gatewarden.podLabels" -}}
{{ include "gatewarden.selector" . }}
app.kubernetes.io/part-of: gatewarden
{{- end -}}

{{- /* Takes (list . image-values). */ -}}
{{- define "gatewarden.image" -}}
{{- $root := index . 0 -}}
{{- $image := index . 1 -}}
{{- if $image.digest -}}
{{ $image.repository }}@{{ $image.digest }}
{{- else -}}
{{ $image.repository }}:{{ default $root.Chart.AppVersion $image.tag }}
{{- end -}}
{{- end -}}

{{- /* Termination grace period of a gateway pod, in seconds. */ -}}
{{- define "gatewarden.gatewayGrace" -}}
{{- add .Values.gateway.leaveSeconds .Values.gateway.drainSeconds 60 -}}
{{- end -}}

{{- /* The namespaces that the controller watches, separated by commas. */ -}}
{{- define "gatewarden.namespaces" -}}
{{- join "," (default (list .Release.Namespace) .Values.controller.namespaces) -}}
{{- end -}}
