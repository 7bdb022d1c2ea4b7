"""Data: time phrases in French, Spanish, Italian and Portuguese, read by `grammar`."""

from __future__ import annotations

from typing import Final

ROMANCE: Final[dict[str, dict[str, str]]] = {
    "french": {
        "numbers": "un/une deux trois quatre cinq six sept huit neuf dix onze douze",
        "few": "quelques/plusieurs",
        "units": "minute/minutes heure/heures jour/jours semaine/semaines mois trimestre/trimestres"
        " an/ans/année/années",
        "weekend": "week_end/week_-_end/weekend",
        "weekdays": "lundi mardi mercredi jeudi vendredi samedi dimanche",
        "months": "janvier février mars avril mai juin juillet août septembre octobre novembre"
        " décembre",
        "seasons": "printemps été automne hiver",
        "holidays": "réveillon_de_noël/veille_de_noël noël réveillon_du_nouvel_an/saint_sylvestre"
        "/saint_-_sylvestre nouvel_an/jour_de_l_an pâques"
        " saint_valentin/saint_-_valentin halloween",
        "days": "avant_hier/avant_-_hier hier/hier_soir/hier_matin"
        " aujourd_hui/ce_matin/ce_soir/cet_après_-_midi demain après_demain/après_-_demain",
        "night": "la_nuit_dernière/cette_nuit",
        "ordinals": "premier/1_er deuxième/2_e/2_ème troisième/3_e/3_ème quatrième/4_e/4_ème",
        "quarter": "t (?P<qn>[1-4])\n(?:le |au |du )?{q} trimestre",
        "prev": "(?:le |la |l )?{x} (?:dernier|dernière|passé|passée|précédent|précédente)",
        "this": "(?:ce|cet|cette) {x}",
        "next": "(?:le |la |l )?{x} (?:prochain|prochaine)",
        "ago": "il y a {n} {u}",
        "past": "(?:les |des |ces )?{n} (?:derniers|dernières) {u}",
        "ahead": "dans {n} {u}",
        "dates": "(?:le )?{d} {m}{y}",
        "spans": "{d} (?:-|au|et|et le|à) {d2} {m}{y}",
        "parts": "(?:au début de|début|le début de)\n(?:mi|mi -|à la mi -|au milieu de)"
        "\n(?:à la fin de|fin|la fin de)",
        "first": "(?:le |la )?(?:premier|première) {u} (?:de|d) {m}{y}",
        "final": "(?:le |la )?(?:dernier|dernière) {u} (?:de|d) {m}{y}",
        "week_after": " (?:de )?(?:la )?semaine (?:dernière|passée)",
        "last_year": " (?:de )?l (?:an|année) (?:dernier|dernière|passé|passée)",
        "this_year": " (?:de )?cette année",
        "of": "(?: de| ,)?",
        "the": "(?:le |la |l )?",
        "in": "en|au|à|lors de|pendant|durant|au mois de|en l an|dans|de l|le|la|au cours de"
        "|du|pendant l|durant l",
        "bare": "{w}",
        "since": "depuis|depuis le|à partir de|dès",
        "until": "jusqu en|jusqu à|jusqu au",
        "before": "avant|avant le",
        "after": "après|après le",
        "from": "de|du|d",
        "to": "à|au|jusqu à|jusqu au|-",
        "between": "entre|entre le",
        "and": "et|et le",
        "never": "chaque|tous les|a|ai|as|avons|avez|ont|avait|ayant",
        "unless": "(?:à|de|la|le) été .",
        "asking": "passé arrivé fait faite eu lieu dit discuté parlé parlions écrit noté raconte"
        " raconter montre notes note messages journal résume résumé est événements tout",
    },
    "spanish": {
        "numbers": "un/una/uno dos/un_par_de tres cuatro cinco seis siete ocho nueve diez"
        " once doce",
        "few": "unos/unas/algunos/algunas/varios/varias",
        "units": "minuto/minutos hora/horas día/días semana/semanas mes/meses"
        " trimestre/trimestres año/años",
        "weekend": "fin_de_semana",
        "weekdays": "lunes martes miércoles jueves viernes sábado domingo",
        "months": "enero febrero marzo abril mayo junio julio agosto septiembre/setiembre octubre"
        " noviembre diciembre",
        "seasons": "primavera verano otoño invierno",
        "holidays": "nochebuena navidad/navidades nochevieja año_nuevo"
        " pascua/semana_santa san_valentín halloween",
        "days": "anteayer/antes_de_ayer/antier ayer/ayer_por_la_mañana/ayer_por_la_tarde"
        " hoy/esta_mañana/esta_tarde/esta_noche mañana pasado_mañana",
        "night": "anoche",
        "ordinals": "primer/primero/1_er segundo/2_o tercer/tercero/3_er cuarto/4_o",
        "quarter": "t (?P<qn>[1-4])\n(?:el |del )?{q} trimestre",
        "prev": "(?:el |la )?(?:último|última|pasado|pasada) {x}"
        "\n(?:el |la )?{x} (?:pasado|pasada)",
        "this": "(?:este|esta) {x}",
        "next": "(?:el |la )?(?:próximo|próxima) {x}\n(?:el |la )?{x} que viene",
        "ago": "hace {n} {u}",
        "past": "(?:los |las )?(?:últimos|últimas) {n} {u}"
        "\n(?:los |las )?{n} (?:últimos|últimas) {u}",
        "ahead": "dentro de {n} {u}\nen {n} {u}",
        "dates": "(?:el )?{d}(?: de)? {m}{y}",
        "spans": "{d} (?:-|al|y el|y|a) {d2}(?: de)? {m}{y}",
        "parts": "(?:a principios de|principios de|a comienzos de)\n(?:a mediados de|mediados de)"
        "\n(?:a finales de|finales de|a fines de)",
        "first": "(?:el |la )?(?:primer|primera) {u} de {m}{y}",
        "final": "(?:el |la )?(?:último|última) {u} de {m}{y}",
        "week_after": " de la (?:semana pasada|última semana|pasada semana)",
        "last_year": " (?:del|de el) (?:año pasado|pasado año|último año)",
        "this_year": " de este año",
        "of": "(?: de| del| del año| ,)?",
        "the": "(?:el |la |las )?",
        "in": "en|el|durante|en el|en la|por|en el mes de|en el año|del|de la",
        "bare": "el {w}",
        "since": "desde|desde el|a partir de|a partir del",
        "until": "hasta|hasta el",
        "before": "antes de|antes del",
        "after": "después de|después del|tras",
        "from": "de|desde|del|desde el",
        "to": "a|hasta|al|hasta el|-",
        "between": "entre|entre el",
        "and": "y|y el",
        "never": "cada|todos los|la|por|buena",
        "unless": "(?:(?:por|de|en|a) )?la mañana .",
        "asking": "pasó pasado hice hizo hicimos hiciste hecho ocurrió sucedió dije dijo hablamos"
        " hablé escribí anoté cuenta cuéntame muestra muéstrame todo notas mensajes diario resume"
        " resumen eventos entradas fui estuve",
    },
    "italian": {
        "numbers": "un/una/uno due/un_paio_di tre quattro cinque sei sette otto nove dieci undici"
        " dodici",
        "few": "alcuni/alcune/qualche/pochi/poche",
        "units": "minuto/minuti ora/ore giorno/giorni settimana/settimane mese/mesi"
        " trimestre/trimestri anno/anni",
        "weekend": "weekend/fine_settimana/week_-_end",
        "weekdays": "lunedì martedì mercoledì giovedì venerdì sabato domenica",
        "months": "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre"
        " novembre dicembre",
        "seasons": "primavera estate autunno inverno",
        "holidays": "vigilia_di_natale natale san_silvestro capodanno pasqua san_valentino"
        " halloween",
        "days": "l_altro_ieri/altro_ieri/avantieri ieri/ieri_sera/ieri_mattina"
        " oggi/stamattina/stasera/questa_mattina/questa_sera domani dopodomani",
        "night": "la_notte_scorsa/stanotte/ieri_notte",
        "ordinals": "primo/1_o secondo/2_o terzo/3_o quarto/4_o",
        "quarter": "(?:q|t) (?P<qn>[1-4])\n(?:il |nel |del )?{q} trimestre",
        "prev": "(?:il |la |lo |l )?{x} (?:scorso|scorsa|passato|passata)"
        "\n(?:il |la |lo |l |nella |nello |nell )?(?:scorso|scorsa) {x}"
        "\nl (?:ultimo|ultima) {x}",
        "this": "(?:questo|questa|quest) {x}",
        "next": "(?:il |la |l )?(?:prossimo|prossima) {x}"
        "\n(?:il |la |l )?{x} (?:prossimo|prossima)",
        "ago": "{n} {u} fa",
        "past": "(?:gli |le |negli |nelle )?(?:ultimi|ultime) {n} {u}",
        "ahead": "(?:fra|tra) {n} {u}",
        "dates": "(?:il |l )?{d}(?: di)? {m}{y}",
        "spans": "{d} (?:-|al|e il|e|a) {d2}(?: di)? {m}{y}",
        "parts": "(?:all inizio di|inizio|a inizio)\n(?:a metà|metà)\n(?:alla fine di|fine|a fine)",
        "first": "(?:il |la |nella |nel )?(?:primo|prima) {u} di {m}{y}",
        "final": "(?:il |la |l |nell )?(?:ultimo|ultima) {u} di {m}{y}",
        "week_after": " della (?:settimana scorsa|scorsa settimana)",
        "last_year": " (?:dell anno scorso|dello scorso anno|l anno scorso)",
        "this_year": " di quest anno",
        "of": "(?: del| di| ,)?",
        "the": "(?:il |la |lo |l |i )?",
        "in": "in|a|nel|ad|durante|nella|d|di|nell|nel mese di|nel corso di|per|nell anno|dal|del",
        "bare": "{w}",
        "since": "da|dal|dall|a partire da|dalla",
        "until": "fino a|fino ad|fino al|fino alla|sino a",
        "before": "prima di|prima del|prima della",
        "after": "dopo|dopo il|dopo la",
        "from": "da|dal|dalla",
        "to": "a|ad|al|fino a|fino al|-",
        "between": "tra|fra|tra il|fra il",
        "and": "e|e il",
        "never": "ogni|tutti i",
        "unless": "",
        "asking": "successo accaduto capitato fatto facevo detto parlato scritto annotato racconta"
        " raccontami mostra mostrami tutto note messaggi diario riassumi riassunto eventi cosa",
    },
    "portuguese": {
        "numbers": "um/uma dois/duas três quatro cinco seis sete oito nove dez onze doze",
        "few": "alguns/algumas/uns/umas/vários/várias/poucos/poucas",
        "units": "minuto/minutos hora/horas dia/dias semana/semanas mês/meses"
        " trimestre/trimestres ano/anos",
        "weekend": "fim_de_semana/final_de_semana/fim_-_de_-_semana",
        "weekdays": "segunda_-_feira/segunda_feira/segunda terça_-_feira/terça_feira/terça"
        " quarta_-_feira/quarta_feira/quarta quinta_-_feira/quinta_feira/quinta"
        " sexta_-_feira/sexta_feira/sexta"
        " sábado domingo",
        "months": "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro"
        " dezembro",
        "seasons": "primavera verão outono inverno",
        "holidays": "véspera_de_natal natal réveillon/véspera_de_ano_novo"
        " ano_novo páscoa dia_dos_namorados_europeu/são_valentim halloween",
        "days": "anteontem/antes_de_ontem ontem/ontem_à_noite/ontem_de_manhã"
        " hoje/hoje_de_manhã/hoje_à_noite/esta_manhã/esta_noite amanhã"
        " depois_de_amanhã",
        "night": "a_noite_passada/na_noite_passada/noite_passada",
        "ordinals": "primeiro/1_o segundo/2_o terceiro/3_o quarto/4_o",
        "quarter": "t (?P<qn>[1-4])\n(?:o |no |do )?{q} trimestre",
        "prev": "(?:o |a |na |no )?{x} (?:passado|passada|anterior)"
        "\n(?:o |a |na |no )?(?:último|última) {x}",
        "this": "(?:este|esta|neste|nesta|esse|essa|nesse|nessa) {x}",
        "next": "(?:o |a |na |no )?(?:próximo|próxima) {x}\n(?:o |a |na |no )?{x} que vem",
        "ago": "(?:há|faz|fazem) {n} {u}(?: atrás)?\n{n} {u} atrás",
        "past": "(?:os |as |nos |nas )?(?:últimos|últimas) {n} {u}",
        "ahead": "daqui a {n} {u}\ndentro de {n} {u}\nem {n} {u}",
        "dates": "(?:o |a )?{d}(?: de)? {m}{y}",
        "spans": "{d} (?:-|a|e|ao|até) {d2}(?: de)? {m}{y}",
        "parts": "(?:no início de|início de|no começo de)\n(?:em meados de|meados de)"
        "\n(?:no fim de|no final de|fim de|final de)",
        "first": "(?:o |a |na |no )?(?:primeiro|primeira) {u} de {m}{y}",
        "final": "(?:o |a |na |no )?(?:último|última) {u} de {m}{y}",
        "week_after": " da (?:semana passada|última semana)",
        "last_year": " (?:do ano passado|do último ano)",
        "this_year": " deste ano",
        "of": "(?: de| do| ,)?",
        "the": "(?:o |a |os |as )?",
        "in": "em|no|na|durante|durante o|à|ao|nas|pelo|no mês de|no ano de",
        "bare": "na {w}",
        "since": "desde|desde o|desde a|a partir de|a partir da",
        "until": "até|até o|até à|até a|até ao",
        "before": "antes de|antes do|antes da",
        "after": "depois de|depois do|depois da|após",
        "from": "de|desde|do|da",
        "to": "a|até|ao|à|-",
        "between": "entre|entre o|entre a",
        "and": "e|e o|e a",
        "never": "cada|toda|todo|todas as|todos os",
        "unless": "(?:.* )?(?:segunda|terça|quarta|quinta|sexta) [^|]",
        "asking": "aconteceu acontecido fiz fizemos fez feito ocorreu disse dissemos falei falamos"
        " conversamos escrevi anotei conte mostre mostra tudo notas mensagens diário resuma resumo"
        " eventos passou fui que",
    },
}
